// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/locus-db/locus/locality"
)

func Example() {
	// One generator per table. Programs leave the options out; here they make the output reproducible.
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

// Order selects between spread and gathered.
func ExampleOptions_order() {
	for _, order := range []locality.Order{locality.Variable, locality.Scatter, locality.Sequential} {
		g, err := locality.NewGenerator(&locality.Options{
			Order: order,
			// Programs leave these out; here they make the output reproducible.
			Rand: rand.NewChaCha8([32]byte{1}),
			Now:  func() time.Time { return time.Date(2013, 4, 28, 1, 3, 59, 0, time.UTC) },
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-11v", order)
		for _, id := range g.Append(nil, 4) {
			fmt.Printf(" %08x", id.Position())
		}
		fmt.Println()
	}
	// Output:
	// variable    325706f7 8d1353b8 d8ee9079 24baed2a
	// scatter     bed7fe0f b1432df9 6c99c222 1d103e81
	// sequential  f5166776 f5166777 f5166778 f5166779
}

// Many IDs at once cost one clock reading.
func ExampleGenerator_Append() {
	g, err := locality.NewGenerator(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := g.Append(nil, 1000)
	n, _ := ids[999].Steps(ids[0])
	fmt.Println(len(ids), n)
	// Output: 1000 999
}

// Goroutines that mint many IDs concurrently take a Local each.
func ExampleGenerator_Local() {
	g, err := locality.NewGenerator(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]locality.ID, 4)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { ids[i] = g.Local().New() })
	}
	wg.Wait()
	fmt.Println(ids[0] != ids[1], ids[2] != ids[3])
	// Output: true true
}

// Old rows get IDs that carry their dates.
func ExampleGenerator_NewAt() {
	g, err := locality.NewGenerator(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := g.NewAt(time.Date(2012, 10, 15, 18, 58, 18, 0, time.UTC))
	at, _ := id.Time()
	fmt.Println(at, err)
	// Output: 2012-10-15 18:58:18 +0000 UTC <nil>
}

func ExampleParseLenient() {
	for _, text := range []string{" {20BE0FFC-314A-BD53-7A50-013A65CA76D2}\n", "urn:uuid:20be0ffc-314a-bd53-7a50-013a65ca76d2", "20be0ffc314abd537a50013a65ca76d2"} {
		fmt.Println(locality.ParseLenient(text))
	}
	// Output:
	// 20be0ffc-314a-bd53-7a50-013a65ca76d2 <nil>
	// 20be0ffc-314a-bd53-7a50-013a65ca76d2 <nil>
	// 20be0ffc-314a-bd53-7a50-013a65ca76d2 <nil>
}

func ExampleNullID() {
	var row struct {
		Parent locality.NullID `json:"parent"`
	}
	for _, text := range []string{`{"parent":null}`, `{"parent":"20be0ffc-314a-bd53-7a50-013a65ca76d2"}`} {
		err := json.Unmarshal([]byte(text), &row)
		fmt.Println(row.Parent.Valid, row.Parent.ID, err)
	}
	// Output:
	// false 00000000-0000-0000-0000-000000000000 <nil>
	// true 20be0ffc-314a-bd53-7a50-013a65ca76d2 <nil>
}
