// SPDX-License-Identifier: Apache-2.0

package locus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// shops is what two sources say about one shop.
var shops = []records.Input{
	{Ref: entity.Ref{Source: "chamber", Key: "1"},
		Attributes: entity.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}}},
	{Ref: entity.Ref{Source: "crawler", Key: "2"},
		Attributes: entity.Attributes{"name": {"Joe's Pizza"}, "phones": {"(415) 555-2300"}}},
}

// installation opens an empty installation of one cell, which done closes and removes.
func installation() (db *locus.DB, done func()) {
	dir, err := os.MkdirTemp("", "places")
	check(err)
	opts := &locus.Options{}
	opts.Storage.Cells, opts.Storage.Scratch = 1, true
	db, err = locus.Open(context.Background(), dir, opts)
	check(err)
	return db, func() {
		check(db.Close())
		check(os.RemoveAll(dir))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A record is put under its source's key, replaced by a newer one, and deleted.
func ExampleDB_Records() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	ref := entity.Ref{Source: "chamber", Key: "88231"}
	for _, name := range []string{"Joes Pizza", "Joe's Pizza"} {
		results, err := db.Records().Put(ctx, []records.Input{{Ref: ref, Attributes: entity.Attributes{"name": {name}}}})
		check(err)
		check(results[0].Err)
		fmt.Println(results[0].Outcome, "version", results[0].Version)
	}
	rec, err := db.Records().Get(ctx, ref)
	check(err)
	fmt.Println(rec.Attributes["name"][0])
	_, err = db.Records().Delete(ctx, []entity.Ref{ref})
	check(err)
	_, err = db.Records().Get(ctx, ref)
	fmt.Println(errors.Is(err, locus.ErrErased))
	// Output:
	// created version 1
	// updated version 2
	// Joe's Pizza
	// true
}

// Both records are in one entity, which a search finds.
func ExampleDB_Entities() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	results, err := db.Records().Put(ctx, shops)
	check(err)
	found, _, err := db.Entities().Search(ctx, entities.Query{Text: "pizza"})
	check(err)
	fmt.Println(len(found), "entity of", len(found[0].Members), "records")
	e, err := db.Entities().Find(ctx, "crawler:2")
	check(err)
	fmt.Println(e.ID == results[0].Entity)
	// Output:
	// 1 entity of 2 records
	// true
}

// A match finds the entity of a record that is not stored, and says what a put would do.
func ExampleDB_Entities_match() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	_, err := db.Records().Put(ctx, shops[:1])
	check(err)
	found, err := db.Entities().Match(ctx, []entities.Probe{
		{Attributes: entity.Attributes{"name": {"Joe's Pizza"}, "phones": {"(415) 555-2300"}}},
		{Attributes: entity.Attributes{"phones": {"415 555 2300"}}},
		{Attributes: entity.Attributes{"city": {"Springfield"}}},
	}, &entities.MatchOptions{Put: true})
	check(err)
	for _, f := range found {
		for _, c := range f.Candidates {
			fmt.Println(c.Record, c.Level, c.MatchWeight)
		}
		if f.Put != nil {
			fmt.Println("put:", f.Put.Outcome)
		} else {
			fmt.Println("no put:", f.PutErr != nil, f.Reason)
		}
	}
	// Output:
	// chamber:1 same +15.80
	// put: matched
	// chamber:1 same +9.00
	// put: matched
	// put: created
}

// A decision separates two records. Each then has its own entity.
func ExampleDB_Decisions() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	results, err := db.Records().Put(ctx, shops)
	check(err)
	fmt.Println(results[0].Entity == results[1].Entity)
	made, err := db.Decisions().Decide(ctx, []decisions.Input{
		{Verdict: entity.VerdictDifferent, A: "chamber:1", B: "crawler:2", Author: "ann", Reason: "two branches"},
	})
	check(err)
	fmt.Println(made[0].EntityA == made[0].EntityB)
	// Output:
	// true
	// false
}

// Two records that may be one thing wait for a person; the answer takes them off the queue.
func ExampleDB_Review() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	_, err := db.Records().Put(ctx, []records.Input{
		{Ref: entity.Ref{Source: "chamber", Key: "1"},
			Attributes: entity.Attributes{"name": {"Joes Pizza"}, "address": {"1000 Market Street"}}},
		{Ref: entity.Ref{Source: "crawler", Key: "2"},
			Attributes: entity.Attributes{"name": {"Joe's Pizza"}, "address": {"22 Pine Street"}}},
	})
	check(err)
	page, err := db.Review().List(ctx, review.Query{})
	check(err)
	pair := page.Pairs[0]
	fmt.Println(pair.A, pair.B, pair.Explanation.Weight)

	chosen := &review.Selection{Pairs: []review.Chosen{{A: "chamber:1", B: "crawler:2"}}}
	_, _, err = db.Review().DecideAll(ctx, chosen, "", entity.VerdictSame, decisions.By{Author: "ann", Reason: "it moved"})
	check(err)
	page, err = db.Review().List(ctx, review.Query{})
	check(err)
	fmt.Println(len(page.Pairs))
	// Output:
	// chamber:1 crawler:2 +2.30
	// 0
}

// A profile shows how many records an attribute has, and which shapes its values have.
func ExampleDB_Quality() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	_, err := db.Records().Put(ctx, shops)
	check(err)
	profile, err := db.Quality().Profile(ctx, quality.ProfileQuery{})
	check(err)
	places := profile.Kinds[0]
	fmt.Println(places.Kind, places.Records, "records", places.Entities, "entity")
	for _, a := range places.Attributes {
		if a.Filled > 0 {
			fmt.Println(a.Name, a.Filled, a.Shapes[0].Shape)
		}
	}
	// Output:
	// place 2 records 1 entity
	// name 2 Aa Aa
	// phones 2 (999) 999-9999
}

// The lines of an explanation add up to the weight of the pair.
func ExampleDB_Explain() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	results, err := db.Records().Put(ctx, shops)
	check(err)
	why, err := db.Explain().Why(ctx, results[0].Entity)
	check(err)
	pair := why.Joins[0].Explanation
	var sum match.Weight
	for _, line := range pair.Lines {
		sum += line.Weight
	}
	fmt.Println(sum == pair.Weight, pair.Weight >= why.Threshold)
	// Output: true true
}

// Three kinds exist from the start. Records that name no kind are places.
func ExampleDB_Kinds() {
	db, done := installation()
	defer done()

	for _, k := range db.Kinds().List() {
		fmt.Println(k.Schema.Kind, k.Default)
	}
	// Output:
	// person false
	// place true
	// product false
}

// A rollup counts the records of each source; the read waits for a write.
func ExampleDB_Rollups() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	results, err := db.Records().Put(ctx, shops)
	check(err)
	_, _, err = db.Rollups().Define(ctx,
		rollup.Definition{Name: "sources", Kind: "place", Over: rollup.Records, Group: []string{"source"}})
	check(err)
	answer, err := db.Rollups().Query(ctx, "sources", rollups.Query{Read: rollups.Read{Min: results[1].Watermark}})
	check(err)
	for _, g := range answer.Groups {
		fmt.Println(g.Group[0])
	}
	// Output:
	// chamber
	// crawler
}

// A batch of hits counts once, however often it is sent with its key.
func ExampleDB_Counters() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	hits := counter.Batch{Key: "import-7", Hits: []counter.Hit{{Metric: "page /about", At: time.Now(), N: 3}}}
	for range 2 {
		answer, err := db.Counters().Add(ctx, hits)
		check(err)
		fmt.Println(answer.Results[0], answer.Replayed)
	}
	// Output:
	// <nil> false
	// <nil> true
}

// The changelogs return everything that was written after a watermark.
func ExampleDB_Changes() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	before, err := db.Changes().Tail(ctx, nil)
	check(err)
	_, err = db.Records().Put(ctx, shops[:1])
	check(err)
	list, _, err := db.Changes().Read(ctx, changes.Query{After: before})
	check(err)
	for _, c := range list {
		fmt.Println(c.Kind)
	}
	// Output:
	// put
	// created
}

// The status lists every cell. A directory has sixteen, each a file, unless options say otherwise.
func ExampleDB_Cells() {
	ctx := context.Background()
	db, done := installation()
	defer done()

	status, err := db.Cells().Status(ctx)
	check(err)
	fmt.Println(status.Ready, len(status.Cells), status.Counts.Records)
	// Output: true 1 0
}
