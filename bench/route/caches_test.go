// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"runtime"

	"github.com/hashicorp/go-memdb"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/maypok86/otter/v2"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/cell"
)

// remembered are the peers that hold the cell of each address: tables, and caches as large as the set of requested
// addresses. name describes the addresses.
func remembered[K comparable](name string, keys []K, cellOf func(K) (cell.ID, error), index memdb.Indexer) []subject {
	// They are not filled in the order in which they are read, as in practice.
	fill := func(keys []K, put func(K, cell.ID)) {
		for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(len(keys)) {
			k := keys[i]
			c, err := cellOf(k)
			if err != nil {
				panic(err)
			}
			put(k, c)
		}
	}
	return []subject{
		{Peer: "map", Each: func() loop {
			table := keep("map of "+name, func() map[K]cell.ID {
				table := make(map[K]cell.ID, len(keys))
				fill(keys, func(k K, c cell.ID) { table[k] = c })
				return table
			})
			return func(n int) {
				var c cell.ID
				for i := range n {
					c = table[keys[i&(len(keys)-1)]]
				}
				runtime.KeepAlive(c)
			}
		}},
		{Peer: "lru", Each: func() loop {
			cache := keep("lru of "+name, func() *lru.Cache[K, cell.ID] {
				cache, err := lru.New[K, cell.ID](len(keys))
				compare.Fail(err)
				fill(keys, func(k K, c cell.ID) { cache.Add(k, c) })
				return cache
			})
			return func(n int) {
				var c cell.ID
				for i := range n {
					c, _ = cache.Get(keys[i&(len(keys)-1)])
				}
				runtime.KeepAlive(c)
			}
		}},
		{Peer: "otter", Each: func() loop {
			cache := keep("otter of "+name, func() *otter.Cache[K, cell.ID] {
				cache := otter.Must(&otter.Options[K, cell.ID]{MaximumSize: len(keys)})
				fill(keys, func(k K, c cell.ID) { cache.Set(k, c) })
				return cache
			})
			return func(n int) {
				var c cell.ID
				for i := range n {
					c, _ = cache.GetIfPresent(keys[i&(len(keys)-1)])
				}
				runtime.KeepAlive(c)
			}
		}},
		{Peer: "memdb", Each: func() loop {
			keys := keys[:min(2*pool, len(keys))]
			db := keep("memdb of "+name, func() *memdb.MemDB {
				db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"route": {
					Name:    "route",
					Indexes: map[string]*memdb.IndexSchema{"id": {Name: "id", Unique: true, Indexer: index}},
				}}})
				compare.Fail(err)
				txn := db.Txn(true)
				fill(keys, func(k K, c cell.ID) { compare.Fail(txn.Insert("route", &route[K]{k, c})) })
				txn.Commit()
				return db
			})
			return func(n int) {
				var c cell.ID
				for i := range n {
					found, err := db.Txn(false).First("route", "id", keys[i&(len(keys)-1)])
					compare.Fail(err)
					c = found.(*route[K]).Cell
				}
				runtime.KeepAlive(c)
			}
		}},
	}
}

// route is a row of a table.
type route[K any] struct {
	Address K
	Cell    cell.ID
}
