// SPDX-License-Identifier: Apache-2.0

package changes_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// The logs tell of everything that was written after a place in them.
func Example() {
	dir, err := os.MkdirTemp("", "changes")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

	before, err := db.Changes().Tail(ctx, nil)
	check(err)
	_, err = db.Records().Put(ctx, []records.Input{
		{Ref: entity.Ref{Source: "chamber", Key: "1"}, Attributes: entity.Attributes{"name": {"Joes Pizza"}}},
	})
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

func check(err error) {
	if err != nil {
		panic(err)
	}
}
