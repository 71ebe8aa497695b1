// SPDX-License-Identifier: Apache-2.0

package estimate_test

import (
	"fmt"

	"github.com/locus-db/locus/internal/estimate"
)

func Example() {
	e := estimate.Quality([]estimate.Stratum{
		// 40 of 900 pairs within entities were drawn and answered: 38 are the same thing.
		{Joined: true, Pairs: 900, Drawn: 40, DrawnSame: 38, Decided: 40, DecidedSame: 38},
		// 20 of 100 pairs between entities: 2 are the same thing after all.
		{Pairs: 100, Drawn: 20, DrawnSame: 2, Decided: 20, DecidedSame: 2},
	}, .9)
	fmt.Printf("precision %.2f (%.2f to %.2f)\n", e.Precision.Value, e.Precision.Low, e.Precision.High)
	fmt.Printf("recall %.2f (%.2f to %.2f)\n", e.Recall.Value, e.Recall.Low, e.Recall.High)
	// Output:
	// precision 0.94 (0.87 to 0.99)
	// recall 0.99 (0.97 to 1.00)
}
