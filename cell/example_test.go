// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

func Example() {
	m, err := cell.NewMap(cell.Spec{Generations: []cell.Generation{
		{Cells: 16, URLs: []string{"sqlite:cells/g{g}-{i}.db"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	// A key's record goes to the cell of its hash.
	key := m.KeyOf("twitter", "783214")
	home := m.Key(m.Current(), key.Position())
	fmt.Println(home, m.URL(home))

	// The record's puid, drawn from the cell's range, leads back there,
	lo, _ := m.PuidRange(home)
	byPuid, err := m.Puid(lo + 1)
	fmt.Println(byPuid, err)

	// and so does the id that is minted close to its key
	g, err := locality.NewGenerator(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := g.NewIn(m.Segment(home, key.Position()))
	if err != nil {
		fmt.Println(err)
		return
	}
	byID, err := m.Entity(id)
	fmt.Println(byID, err)
	// Output:
	// g0-10 sqlite:cells/g0-10.db
	// g0-10 <nil>
	// g0-10 <nil>
}

func ExampleRouter_ExplainPuid() {
	m, err := cell.NewMap(cell.Spec{Generations: []cell.Generation{{Cells: 16}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := cell.NewRouter(m)
	found, _ := r.ExplainPuid(42)
	fmt.Println(found.Cell, found.Puids.Lo, found.Puids.Hi)
	lost, err := r.ExplainPuid(-1)
	fmt.Println(lost.Place == nil, lost.Why, err != nil)
	// Output:
	// g0-8 0 4294967295
	// true its range is 268435455 after a start, but there is only 1 generation true
}
