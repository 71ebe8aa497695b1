// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// An installation of four cells in a directory. Each cell is read in its own transaction.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "locus")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	cells, err := storage.Open(ctx, "sqlite:"+dir, &storage.Options{Cells: 4, Scratch: true})
	if err != nil {
		log.Fatal(err)
	}
	defer cells.Close()
	for _, id := range cells.Map().Cells() {
		c, err := cells.Cell(id)
		if err != nil {
			log.Fatal(err)
		}
		if err := c.View(ctx, func(tx storage.Tx) error {
			depth, err := tx.RedoDepth(ctx)
			fmt.Println(id, "redo entries:", depth)
			return err
		}); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// g0-0 redo entries: 0
	// g0-1 redo entries: 0
	// g0-2 redo entries: 0
	// g0-3 redo entries: 0
}
