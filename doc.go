// SPDX-License-Identifier: Apache-2.0

// Package locus opens an installation of Locus, which takes dirty records about the same things from many sources, resolves
// them into entities as they arrive, and spreads them over cells that never move a row: ids that know where they live.
//
//	import (
//		"github.com/locus-db/locus"
//		_ "github.com/locus-db/locus/storage/sqlite"
//	)
//
//	db, err := locus.Open(ctx, "./places", nil)
//	defer db.Close()
//	results, err := db.Records().Put(ctx, []records.Input{{
//		Ref:        entity.Ref{Source: "chamber", Key: "88231"},
//		Attributes: entity.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}},
//	}})
//	e, err := db.Entities().Get(ctx, results[0].Entity)
//
// A DB has a handle for each noun, in a package of its own:
//
//	Records    put, get, list, delete, erase          records
//	Entities   get, find, search, relations           entities
//	Decisions  decide, merge, unmerge, review         decisions
//	Explain    why, why not, how, what if, route      explain
//	Kinds      list, create, compare, switch          kinds
//	Rollups    define, query, verify, explain         rollups   how one cell follows its log: rollup
//	Counters   add hits, read series                  counters  how hits are counted exactly once: counter
//	Changes    read the logs, states for a mirror     changes   what a change is: changelog
//	Cells      status, grow, move, check, vacuum      cells     how keys are routed: cell
//
// The records are the truth. Entities are a pure function of the records that are stored now, of their kind and of its
// statistics: they do not depend on the order in which records came, a deletion undoes exactly what the record did, and an
// id that was ever given out leads to the right entity for ever.
//
// What is acknowledged is durable, and resolved, so that a reader sees it at once; or its Result says Pending, because a
// cell that it takes cannot be reached or another process is resolving it. Search and lists read each cell in a snapshot of
// its own.
//
// Cells are files of a directory, which belongs to one process, or databases of PostgreSQL servers
// ("postgres://db1/locus"), which any number of processes share: all of them take records, one at a time resolves them.
// Cells are added while reads and writes go on, and no row moves.
package locus
