// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/locus-db/locus/bench/internal/compare"
)

var suite = compare.Suite{
	Name:    "bench/route",
	Package: "github.com/locus-db/locus/bench/route",
	Works: map[string]compare.Work{
		"Puid":        {Title: "puid to cell", Parallel: true},
		"Entity":      {Title: "id to cell", Parallel: true},
		"Keys":        {Title: "key, encoding included, to its cells in 11 generations", Parallel: true},
		"Absent":      {Title: "cells asked for a new key after ten doublings", Unit: "probes", Once: true},
		"Known":       {Title: "cells asked for a known key after ten doublings", Unit: "probes", Once: true},
		"Filter":      {Title: "filter of a sealed cell asked for one key"},
		"Gate":        {Title: "put of a new key on PostgreSQL, 8 writers", Waits: true},
		"Rollout":     {Title: "64 cells after 16 on PostgreSQL, 8 writers: until all are sealed", Unit: "ms", Once: true},
		"Stall":       {Title: "the same: longer than the longest put before", Unit: "ms", Once: true},
		"Move":        {Title: "cell move on PostgreSQL, 4 writers: their pause", Unit: "ms", Once: true},
		"Compact":     {Title: "compaction on PostgreSQL, per key copied", Unit: "µs", Once: true},
		"FilterBuild": {Title: "filters on PostgreSQL, reading included, per key", Unit: "µs", Once: true},
		"Balance":     {Title: "1,000,000 ids over 1,000 cells, the fullest", Unit: "max/mean", Once: true},
	},
	Peers: []compare.Peer{
		{Key: "locus", Title: "**Locus**"},
		{Key: "young", Title: "**Locus**, one generation", Note: "16,384 cells"},
		{Key: "bare", Title: "**Locus**, without filters"},
		{Key: "literal", Title: "the literal scheme", Note: "from the newest generation down"},

		{Key: "jump", Title: "dgryski/go-jump, 1,024 nodes", Note: "a ring: moves data when nodes are added"},
		{Key: "jump-large", Title: "dgryski/go-jump, 16,384 nodes", Note: "a ring"},
		{Key: "buraksezer", Title: "buraksezer/consistent, 1,024 nodes", Note: "a ring, bounded loads"},
		{Key: "stathat", Title: "stathat.com/c/consistent, 1,024 nodes", Note: "a ring"},
		{Key: "lafikl", Title: "lafikl/consistent, 1,024 nodes", Note: "a ring"},
		{Key: "rendezvous", Title: "dgryski/go-rendezvous, 1,024 nodes", Note: "no ring: asks each node's hash"},
		{Key: "vitess", Title: "Vitess's hash (DES), 1,024 shards",
			Note: "the algorithm only: crypto/des and the shard's range"},

		{Key: "map", Title: "Go map of 2^20", Note: "a table: knows what it was known_epoch"},
		{Key: "lru", Title: "hashicorp/golang-lru of 2^20", Note: "a cache in which everything is found"},
		{Key: "otter", Title: "maypok86/otter of 2^20", Note: "a cache in which everything is found"},
		{Key: "memdb", Title: "hashicorp/go-memdb of 2^17", Note: "a table with transactions"},

		{Key: "gate", Title: "**Locus**, its statements alone"},
		{Key: "ungated", Title: "its statements alone, without the gate", Note: "wrong: a late put would pass", Floor: true},

		{Key: "hashed", Title: "jump hash of the ids' XXH64"},
	},
	Goals: goals,
}

// goals in the order of the table.
var goals = slices.Concat(ratios("Puid", "locus"), ratios("Entity", "young"), ratios("Entity", "locus"), []compare.Goal{
	{Bench: "Puid", Ours: "locus", Against: compare.Only("vitess"), Ratio: 15},
	{Bench: "Keys", Ours: "locus", Against: compare.Only("jump"), Ratio: 1.8, NoAllocs: true},
	{Bench: "Absent", Ours: "locus", Against: compare.Only("literal"), AtMost: 1.05},
	{Bench: "Known", Ours: "locus", Against: compare.Only("literal"), AtMost: 1.55},
	{Bench: "Gate", Ours: "gate", Against: compare.Only("ungated"), Ratio: 1.1},
	{Bench: "Rollout", Ours: "locus", AtMost: 1000},
	{Bench: "Stall", Ours: "locus", AtMost: 50},
	{Bench: "Move", Ours: "locus", AtMost: 50},
	{Bench: "Compact", Ours: "locus", AtMost: 5},
	{Bench: "FilterBuild", Ours: "locus", AtMost: 0.25},
	{Bench: "Balance", Ours: "locus", AtMost: 1.01},
})

// ratios returns the goals of finding the cell of one address.
func ratios(bench, ours string) (all []compare.Goal) {
	for _, peer := range []struct {
		key   string
		ratio float64
	}{
		{"jump", 10},
		{"buraksezer", 15},
		{"stathat", 40},
		{"lafikl", 60},
		{"rendezvous", 150},
		{"map", 8},
		{"lru", 15},
		{"otter", 40},
		{"memdb", 300},
	} {
		all = append(all, compare.Goal{Bench: bench, Ours: ours, Against: compare.Only(peer.key), Ratio: peer.ratio,
			NoAllocs: true})
	}
	return all
}
