// SPDX-License-Identifier: Apache-2.0

package entities_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// Both records are in one entity, which a search finds.
func Example() {
	dir, err := os.MkdirTemp("", "entities")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

	results, err := db.Records().Put(ctx, []records.Input{
		{Ref: entity.Ref{Source: "chamber", Key: "1"}, Attributes: entity.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}}},
		{Ref: entity.Ref{Source: "crawler", Key: "2"}, Attributes: entity.Attributes{"name": {"Joe's Pizza"}, "phones": {"(415) 555-2300"}}},
	})
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A match finds the entity of a record that is not stored, and says what a put would do.
func ExampleHandle_Match() {
	dir, err := os.MkdirTemp("", "entities")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()
	_, err = db.Records().Put(ctx, []records.Input{
		{Ref: entity.Ref{Source: "chamber", Key: "1"}, Attributes: entity.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}}},
	})
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
