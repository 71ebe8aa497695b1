// SPDX-License-Identifier: Apache-2.0

package derived_test

import (
	"fmt"

	"github.com/locus-db/locus/resolve/derived"
)

// An edge is stored under both of its records.
func ExampleEdge_Mirror() {
	e := derived.Edge{A: -7, B: 12, Weight: 930}
	for _, row := range []derived.Edge{e, e.Mirror()} {
		fmt.Println("under", row.A, "to", row.B, "weight", row.Weight)
	}
	// Output:
	// under -7 to 12 weight +9.30
	// under 12 to -7 weight +9.30
}
