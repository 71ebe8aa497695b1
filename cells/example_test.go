// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// A directory begins with sixteen cells, each a file.
func Example() {
	dir, err := os.MkdirTemp("", "cells")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

	status, err := db.Cells().Status(ctx)
	check(err)
	fmt.Println(status.Ready, len(status.Cells), status.Counts.Records)
	// Output:
	// true 16 0
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
