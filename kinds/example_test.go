// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// Three kinds exist from the start. Records that name no kind are places.
func Example() {
	dir, err := os.MkdirTemp("", "kinds")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

	for _, k := range db.Kinds().List() {
		fmt.Println(k.Schema.Kind, k.Default)
	}
	// Output:
	// person false
	// place true
	// product false
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
