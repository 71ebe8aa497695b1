// SPDX-License-Identifier: Apache-2.0

package decisions_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// A decision separates two records. Each then has its own entity.
func Example() {
	dir, err := os.MkdirTemp("", "decisions")
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}
