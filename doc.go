// SPDX-License-Identifier: Apache-2.0

// Package locus takes dirty records about the same things from many sources, resolves them into
// entities as they come, and spreads them over cells that never move a row: ids that know where
// they live.
//
//	records ──► Put ──► key → puid, record, birth id      in the key's home cell, durable
//	                      │
//	                      ▼
//	             candidates by feature, score, cluster    resolve, match
//	                      │
//	                      ▼
//	             entity: members, merged view, redirects  in the anchor's cell, durable
//	                      │
//	answer ◄──────────────┘  entity id, founded or joined
//
// A Service wires the libraries together. It knows neither a database driver nor HTTP: cells come
// opened from a backend, package backend/all opens them by URL.
//
//	cells, err := all.Open(ctx, "./locus-data", &all.Options{Rules: locus.Rules})
//	...
//	service, err := locus.Open(ctx, cells, nil)
//	...
//	results, err := service.Put(ctx, []locus.Put{{
//		Ref:        entity.Ref{Source: "chamber", Key: "88231"},
//		Attributes: entity.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}},
//	}})
//
// The records are the truth. Entities are a pure function of the records that are stored now, of
// the schema and of the pack: they do not depend on the order in which records came, a deletion
// undoes exactly what the record did, and an id that was ever given out leads to the right entity
// for ever. Why tells what a decision was made of, with the code that made it.
//
// What is acknowledged is durable, and resolved, so that a reader sees it at once; or its Result says
// Pending, because a cell that it takes does not answer or another process is at it. Search and lists
// read each cell at a moment of its own.
//
// Cells may be files of a directory, which belongs to one process, or databases of PostgreSQL
// servers ("postgres://db1/locus"), which any number of processes share: records are taken by all
// of them, what follows from a record is worked out by one at a time. More cells are added while
// everybody goes on, and no row moves for it: Grow, Compact and Move, and package cell for why that
// is right. Route tells the way to anything, and what was asked on it.
package locus
