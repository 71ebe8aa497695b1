// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/des"
	"encoding/binary"
	"runtime"
	"sync"
	"testing"

	"github.com/buraksezer/consistent"
	"github.com/cespare/xxhash/v2"
	"github.com/dgryski/go-jump"
	"github.com/dgryski/go-rendezvous"
	lafikl "github.com/lafikl/consistent"
	stathat "stathat.com/c/consistent"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/cell"
)

// nodeNames returns the names of the nodes of a ring.
func nodeNames() []string {
	names := make([]string, nodes())
	for i := range names {
		names[i] = cell.ID{Gen: 10, Index: uint32(i)}.String()
	}
	return names
}

// names converts addresses to strings for rings of strings, outside the measurement.
func names[K any](addresses []K, bytes func(K) []byte) []string {
	all := make([]string, len(addresses))
	for i, a := range addresses {
		all[i] = string(bytes(a))
	}
	return all
}

// rings are the peers that place names on nodes. Their rings are built once, because that takes seconds.
func rings(names []string) []subject {
	return []subject{
		{Peer: "buraksezer", Each: func() loop {
			ring := buraksezerRing()
			return func(n int) {
				var member consistent.Member
				for i := range n {
					member = ring.LocateKey([]byte(names[i&(pool-1)]))
				}
				runtime.KeepAlive(member)
			}
		}},
		{Peer: "stathat", Each: func() loop {
			ring := stathatRing()
			return func(n int) {
				var name string
				var err error
				for i := range n {
					name, err = ring.Get(names[i&(pool-1)])
					compare.Fail(err)
				}
				runtime.KeepAlive(name)
			}
		}},
		{Peer: "lafikl", Each: func() loop {
			ring := lafiklRing()
			return func(n int) {
				var name string
				var err error
				for i := range n {
					name, err = ring.Get(names[i&(pool-1)])
					compare.Fail(err)
				}
				runtime.KeepAlive(name)
			}
		}},
		{Peer: "rendezvous", Each: func() loop {
			ring := rendezvous.New(nodeNames(), xxhash.Sum64String)
			return func(n int) {
				var name string
				for i := range n {
					name = ring.Lookup(names[i&(pool-1)])
				}
				runtime.KeepAlive(name)
			}
		}},
	}
}

type member string

func (m member) String() string { return string(m) }

type xxh64 struct{}

func (xxh64) Sum64(b []byte) uint64 { return xxhash.Sum64(b) }

// Each ring has the module's default number of places per node; buraksezer's, which has no default, uses that of
// stathat's.
var (
	buraksezerRing = sync.OnceValue(func() *consistent.Consistent {
		var members []consistent.Member
		for _, name := range nodeNames() {
			members = append(members, member(name))
		}
		return consistent.New(members,
			consistent.Config{Hasher: xxh64{}, PartitionCount: 20_479, ReplicationFactor: 20, Load: 1.25})
	})
	stathatRing = sync.OnceValue(func() *stathat.Consistent {
		ring := stathat.New()
		ring.Set(nodeNames())
		return ring
	})
	lafiklRing = sync.OnceValue(func() *lafikl.Consistent {
		ring := lafikl.New()
		for _, name := range nodeNames() {
			ring.Add(name)
		}
		return ring
	})
)

// jumps are jump hash for keys that are numbers or can be hashed directly.
func jumps(key func(i int) uint64) []subject {
	on := func(nodes int) loop {
		return func(n int) {
			var at int32
			for i := range n {
				at = jump.Hash(key(i&(pool-1)), nodes)
			}
			runtime.KeepAlive(at)
		}
	}
	return []subject{{Peer: "jump", Loop: on(nodes())}, {Peer: "jump-large", Loop: on(16 * nodes())}}
}

// vitess does what Vitess's vindex "hash" does with a number, and finds the result's range among equal shards: DES
// with a key of zeros.
func vitess(b *testing.B, numbers []int64) subject {
	block, err := des.NewCipher(make([]byte, 8)) //nolint:gosec // it is what is compared with
	if err != nil {
		b.Fatal(err)
	}
	return subject{Peer: "vitess", Each: func() loop {
		var in, out [8]byte
		return func(n int) {
			var shard uint64
			for i := range n {
				binary.BigEndian.PutUint64(in[:], uint64(numbers[i&(pool-1)]))
				block.Encrypt(out[:], in[:])
				shard = binary.BigEndian.Uint64(out[:]) >> (64 - 10)
			}
			runtime.KeepAlive(shard)
		}
	}}
}
