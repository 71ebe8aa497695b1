// SPDX-License-Identifier: Apache-2.0

// Command spread shows the effect of the order of IDs on a sharded collection: the share of the writes that each
// shard takes over a day, for Locality UUIDs in variable and in sequential order, near their families, and for
// ObjectIds and UUIDs of versions 1, 4 and 7. It prints a Markdown table.
//
//	go -C bench run ./spread                                      the table, seconds
//	go -C bench run ./spread -picture ../docs/mongodb                also docs/mongodb.csv and docs/mongodb.svg
//	go -C bench run ./spread -autosplit                           the table for servers before MongoDB 6.0.3
//	go -C bench run ./spread -uri mongodb://router/ -picture run  measured on a sharded cluster: run.csv, run.svg
//
// # What is computed
//
// The keys are minted, byte by byte, by twelve processes under a simulated clock, five per second, each in a random
// process. Everything is drawn from one seed, so every run gives the same result. Each key goes to the chunk whose
// range contains it, and so to a shard. Ranges, splits and moves are those that MongoDB's manual describes:
//
//   - a collection that is sharded while it is empty, by ranges and without zones, begins as one chunk on one shard
//     ("Ranged Sharding", mongodb.com/docs/manual/core/ranged-sharding);
//   - a chunk contains its lower bound, not its upper one; the lowest and the highest chunk are open to their ends, so a
//     key that only grows is always written to the highest ("Choose a Shard Key", .../core/sharding-choose-a-shard-key);
//   - the balancer moves data while the fullest shard has at least three times the configured chunk size, 128 MB, more
//     of the collection than the emptiest; a shard takes part in one migration at a time ("Sharded Cluster Balancer",
//     .../core/sharding-balancer-administration);
//   - since MongoDB 6.0.3 chunks are split only where a range is moved: from the lower bound of a chunk as much as one
//     chunk size ("Data Partitioning with Chunks", .../core/sharding-data-partitioning, and "moveRange",
//     .../reference/command/moveRange). Before, a chunk was split when a write made it larger: -autosplit does that, at
//     the median. Which of a shard's chunks goes first the manual leaves open; the server takes the first that it may
//     move, and so does the model.
//
// The chunk size is 2,000 documents here, as if each had 64 kB. A round of the balancer takes place every minute
// and moves data at once. The model omits zones, the AutoMerger, which only joins ranges of one shard, and a
// behaviour of servers before MongoDB 6, which moved the highest chunk away after a split: the hot spot wandered
// from shard to shard but remained one.
//
// The day before the one that is shown fills the collection. An empty collection behaves the same for every key:
// until the balancer has moved the first ranges, one shard takes everything, unless the ranges are split
// beforehand. The bounds for that are known for keys that are spread evenly; for increasing keys no bounds help.
//
// # What is measured
//
// With -uri the same keys of the second day are written to a cluster through a mongos; no other server is
// contacted. Each kind has a collection whose ranges are split and placed beforehand as in the model after the
// first day, on as many shards as the cluster has. The balancer is switched off for it, so that the number of
// documents per shard in $collStats grows only by what was inserted. The share of a slot is the difference of those
// numbers; a run whose numbers do not add up fails. So the measurement shows where the cluster routes the keys, not
// its speed. The scratch database is dropped at the end, even if the run is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	var o options
	var uri, picture string
	flag.IntVar(&o.shards, "shards", 8, "how many shards; a cluster's own number with -uri")
	flag.IntVar(&o.size, "chunk", 2000, "documents of a chunk")
	flag.BoolVar(&o.autosplit, "autosplit", false, "split chunks at their median as they grow, as before MongoDB 6.0.3")
	flag.StringVar(&picture, "picture", "", "write the shares to this path with .csv, and with .svg as a picture")
	flag.StringVar(&uri, "uri", "", "measure on the sharded cluster that has a mongos at this address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, o, uri, picture); err != nil {
		fmt.Fprintln(os.Stderr, "bench/spread:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, o options, uri, path string) error {
	if o.shards < 2 || o.size < 2 {
		return fmt.Errorf("%d shards with chunks of %d documents: take 2 or more of both", o.shards, o.size)
	}
	all, how := []*spread(nil), computed(o)
	if uri == "" {
		all = computeAll(o)
	} else {
		var err error
		if all, how, err = measure(ctx, uri, o); err != nil {
			return err
		}
	}
	fmt.Fprint(w, table(all))
	if path == "" {
		return nil
	}
	if err := os.WriteFile(path+".csv", []byte(csv(all)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(path+".svg", []byte(picture(all, how)), 0o644)
}
