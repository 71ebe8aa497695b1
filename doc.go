// SPDX-License-Identifier: Apache-2.0

// Package locus opens a Locus installation. Locus takes dirty records about the same things from many sources, resolves
// them into entities as they arrive, and spreads them over cells. Cells can be added without moving a row, because an
// id contains its cell.
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
//	Decisions  decide, merge, unmerge, list           decisions
//	Review     pairs to decide about, assignments     review
//	Quality    estimates, profile of the data         quality
//	Explain    why, why not, how, what if, route      explain
//	Kinds      list, create, compare, migrate         kinds
//	Rollups    define, query, verify, explain         rollups   how one cell follows its log: rollup
//	Counters   add hits, read series                  counters  how hits are counted exactly once: counter
//	Changes    read the logs, states for a mirror     changes   what a change is: changelog
//	Cells      status, grow, move, check, vacuum      cells     how keys are routed: cell
//	Sinks      create, pause, list targets            sinks     what a target implements: sink
//	Sources    create, pause, list streams            sources   what a driver implements: source
//	Tokens     create, list, revoke, check            tokens
//	Audit      write, read, verify the audit log      audits
//
// Records are the source of truth. Entities are a pure function of the live records, their kind and its statistics.
// They do not depend on the order in which records arrived, a deletion undoes exactly what the record did, and every
// entity id ever returned keeps resolving to the right entity.
//
// An acknowledged write is durable. It is also resolved, so the next read sees it, unless its Result says Pending: then
// a cell it needs is unreachable or another process is resolving it. Search and lists read each cell in a separate
// snapshot.
//
// Cells are files in a directory owned by one process, or databases on PostgreSQL servers ("postgres://db1/locus")
// shared by any number of processes. All processes accept records; one at a time resolves them. Cells can be added
// during reads and writes, and no row moves.
package locus
