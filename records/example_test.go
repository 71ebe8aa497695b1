// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// A record is put under its source's key, replaced by a newer one, and deleted.
func Example() {
	dir, err := os.MkdirTemp("", "records")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

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

func check(err error) {
	if err != nil {
		panic(err)
	}
}
