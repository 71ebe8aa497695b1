// SPDX-License-Identifier: Apache-2.0

package definition_test

import (
	"fmt"

	"github.com/locus-db/locus/internal/definition"
)

// An alarm has a time and a list of people to wake; this one has three mistakes.
func Example() {
	text := "alarm: kitchen\nhour: seven\nwakse: everybody\nhour: 8\n"

	r, all := definition.Read("alarm", 1000, []byte(text))
	var name string
	var hour int
	var wakes []string
	all.Fields(
		definition.Text("alarm", &name),
		definition.Whole("hour", &hour),
		definition.List("wakes", &wakes),
	)

	fmt.Println(name, hour, wakes)
	for _, problem := range r.Problems {
		fmt.Println(problem)
	}
	// Output:
	// kitchen 0 []
	// line 2, hour: want a whole number, not "seven"
	// line 3, wakse: no such word: there are alarm, hour and wakes; did you mean "wakes"?
	// line 4, hour: is given twice, first in line 2: remove one of the two
}
