// SPDX-License-Identifier: Apache-2.0

package entity_test

import (
	"fmt"
	"time"

	"github.com/locus-db/locus/entity"
)

// Two sources spell one name differently, and each has a phone number.
func ExampleMerge() {
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	view := entity.Merge([]entity.Testimony{
		{Member: 0, Source: "chamber", Observed: day, Values: map[string][]entity.Spelling{
			"name":   {{Raw: "Joes Pizza", Normal: "joes pizza"}},
			"phones": {{Raw: "415-555-2300", Normal: "4155552300"}},
		}},
		{Member: 1, Source: "crawl", Observed: day, Values: map[string][]entity.Spelling{
			"name":   {{Raw: "Joe's Pizza", Normal: "joes pizza"}},
			"phones": {{Raw: "(415) 555-2300", Normal: "4155552300"}, {Raw: "415-555-2399", Normal: "4155552399"}},
		}},
	}, place)
	for _, attribute := range view {
		for _, value := range attribute.Values {
			fmt.Println(attribute.Name, value.Value, value.Members)
		}
	}
	// Output:
	// name Joe's Pizza [0 1]
	// phones (415) 555-2300 [0 1]
	// phones 415-555-2399 [1]
}
