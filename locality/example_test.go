// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"fmt"
	"time"

	"github.com/locus-db/locus/locality"
)

func Example() {
	// One generator per table. Programs leave the options out; here they make the
	// output repeat.
	orders, err := locality.NewGenerator(&locality.Options{
		Node: locality.FixedNode(7),
		Now:  func() time.Time { return time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	order := orders.New()
	node, _ := order.Node()
	at, _ := order.Time()
	fmt.Println(node, at)

	line := orders.Near(order)
	fmt.Println("same cell of a million:", line.Position()>>12 == order.Position()>>12)
	// Output:
	// 7 2026-11-01 09:00:00 +0000 UTC
	// same cell of a million: true
}

func ExampleParse() {
	id, err := locality.Parse("20BE0FFC-314a-bd53-7a50-013a65ca76d2")
	if err != nil {
		fmt.Println(err)
		return
	}
	at, _ := id.Time()
	pid, _ := id.PID()
	fmt.Println(id, id.Counter(), pid, at.Format(time.RFC3339Nano))
	// Output: 20be0ffc-314a-bd53-7a50-013a65ca76d2 3488672514 12618 2012-10-15T18:58:18.45Z
}

func ExampleGenerator_NewIn() {
	g, err := locality.NewGenerator(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The second of three cells on the ring.
	s := locality.Segment{Lo: 1431655766, Hi: 2863311531}
	id, err := g.NewIn(s)
	fmt.Println(s.Contains(id), err)
	// Output: true <nil>
}
