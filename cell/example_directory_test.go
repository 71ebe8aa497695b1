// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

func ExampleDirectory() {
	ctx := context.Background()
	memory, later := &celltest.Memory{}, time.Duration(0)
	cells, err := cell.OpenCells(ctx, cell.CellsOptions[cell.Store]{
		Authority: "mem:g0-0", Driver: memory.Driver,
		New: &cell.Spec{Generations: []cell.Generation{{Cells: 2, URLs: []string{"mem:g{g}-{i}"}}}},
		Now: func() time.Time { return time.Now().Add(later) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = cells.Close() }()
	directory := cell.NewDirectory(cells)
	show := func(keys ...string) {
		var ks []cell.Key
		for _, k := range keys {
			ks = append(ks, cells.Map().KeyOf("twitter", k))
		}
		given, err := directory.Put(ctx, ks)
		for i, g := range given {
			home, _ := cells.Map().Puid(g.PUID)
			fmt.Println(keys[i], "new:", g.Fresh, "in", home)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	show("12", "783214")

	later = 2 * time.Hour // a generation is announced an hour before it starts
	if err := cell.Grow(ctx, cells, cell.Growth{Cells: 4}, nil); err != nil {
		fmt.Println(err)
	}
	show("12", "783214", "20")
	// Output:
	// 12 new: true in g0-1
	// 783214 new: true in g0-1
	// 12 new: false in g0-1
	// 783214 new: false in g0-1
	// 20 new: true in g1-1
}
