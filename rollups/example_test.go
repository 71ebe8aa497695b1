// SPDX-License-Identifier: Apache-2.0

package rollups_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// A rollup counts the records of each source; the read waits for a write.
func Example() {
	dir, err := os.MkdirTemp("", "rollups")
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
	_, _, err = db.Rollups().Define(ctx, rollup.Definition{Name: "sources", Kind: "place", Over: rollup.Records, Group: []string{"source"}})
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}
