// SPDX-License-Identifier: Apache-2.0

// Command rollups compares the rollups of Locus with other ways to count, for each of many tags, the documents that
// carry it in each place, while the documents change. It prints Markdown tables.
//
//	go -C bench run ./rollups                                            some minutes
//	go -C bench run ./rollups -seconds 20 -invocations 5 -save run.json  what docs/performance.md prints
//	go -C bench run ./rollups -from run.json -picture ../docs/rollups       the tables again, docs/rollups.svg and .csv
//	go -C bench run ./rollups -documents 1200000 -tags 350000            ten times the size
//	go -C bench run ./rollups -zipf 1                                    few tags with many documents
//
// # What is compared
//
// The load is that of the source text: 120,000 documents with ten of 35,000 tags each, in one of three places.
// 10,000 documents per minute move to another place; every tenth of them also replaces a tag. Keys and tags are
// strings. All methods write whole documents. No two clients write the same document, so deadlocks can only involve
// aggregates.
//
// All methods use one PostgreSQL server that the program starts, with the same settings and fsync on. The exception
// is the second Locus, whose cell is an SQLite file that also syncs each commit.
//
//	Locus            entities in a cell; a follower keeps the groups by the log of changes
//	documents alone  no aggregate at all: the ceiling
//	trigger, rows    counts them within each transaction, document by document
//	trigger, sums    the same once for each statement, in order: a better one than most people write
//	view             REFRESH MATERIALIZED VIEW CONCURRENTLY, again and again, beside the writers
//	below xmin       a log that is followed up to the oldest open transaction: what most followers do
//	scan per tag     the method of the text, over a GIN index
//	GROUP BY         all tags in one statement
//
// Single documents come in two ways: from 16 writers with a transaction each, and from 256 clients that share
// transactions through a queue, as all clients of Locus do. Peers measured with the queue are marked.
//
// # How it measures
//
// A closed load is written at full speed. The updates per second of a follower are counted until the last of them
// is visible, so that writing faster than it follows gains nothing. An open load comes at a rate: the text's or a
// multiple of it. The time until an update is visible runs from its commit, as acknowledged to the client, to the
// end of the first answer that includes it: a read of one tag, in a snapshot, whose watermark is not before the
// change; for the view, the first refresh that began after the commit. Both times are of the same clock. A trigger
// counts within the transaction, so its updates are visible at once.
//
// After each load of Locus the groups are compared with their recomputation (rollup.Verify), those of the peers
// that follow with GROUP BY. A difference fails the program and nothing is printed.
//
// An invocation creates all databases afresh and runs the methods in another order than the previous one. The
// tables hold the median of the invocations, ratios those of the same invocation. What other programs used of the
// processors is printed beside each load.
package main

import (
	"flag"
	"os"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
)

func main() {
	o := Options{PerTag: 10, Foreign: 13}
	p := rounds.Program[Report]{
		Name: "bench/rollups",
		Options: func(round int) any {
			o.Invocation = round
			return o
		},
		Tables: tables, Picture: picture, CSV: csv,
	}
	p.Flags("invocations", 1)
	var cells, only string
	flag.IntVar(&o.Documents, "documents", 120_000, "how many documents")
	flag.IntVar(&o.Tags, "tags", 35_000, "how many tags")
	flag.Float64Var(&o.Zipf, "zipf", 0, "how much the popular tags lead: 0 is all alike, 1 as words of a text")
	flag.Float64Var(&o.Seconds, "seconds", 5, "length of a load")
	flag.Float64Var(&o.Foreign, "foreign", 13, "for how many seconds a foreign transaction is open; 0 leaves it out")
	flag.StringVar(&cells, "cell", "postgres,sqlite", "databases of Locus' cells: postgres, sqlite or both")
	flag.IntVar(&o.Batch, "batch", 0, "how many changes Locus' follower reads at once; 0 is its default")
	flag.StringVar(&only, "methods", "", "measure these methods only, such as locus,view")
	flag.Parse()
	o.Cells = strings.Split(cells, ",")
	if only != "" {
		o.Methods = strings.Split(only, ",")
	}
	os.Exit(p.Main())
}
