// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"fmt"

	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/match"
)

func ExampleWeights() {
	m := match.New(timid(), nil)
	var records []*match.Record
	for i, attributes := range people(600) {
		records = append(records, m.Normalise("crm", fmt.Sprint(i), attributes))
	}
	d := learn.Weights(m, records)
	fmt.Println("refused:", len(d.Refused()))
	fmt.Println("prior below 0:", d.Schema.Prior < 0)
	// Output:
	// refused: 0
	// prior below 0: true
}
