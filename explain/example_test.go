// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// The lines of an explanation add up to the weight of the pair.
func Example() {
	dir, err := os.MkdirTemp("", "explain")
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
	why, err := db.Explain().Why(ctx, results[0].Entity)
	check(err)
	pair := why.Joins[0].Explanation
	var sum match.Weight
	for _, line := range pair.Lines {
		sum += line.Weight
	}
	fmt.Println(sum == pair.Weight, pair.Weight >= why.Threshold)
	// Output:
	// true true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
