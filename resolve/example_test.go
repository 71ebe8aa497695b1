// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Batch resolves records in memory. The earliest record of an entity comes first.
func ExampleBatch() {
	record := func(key, birth, name, phone, address string) *entity.Record {
		return &entity.Record{
			Ref: entity.Ref{Source: "vendor", Key: key}, Birth: locality.MustParse(birth),
			Attributes: entity.Attributes{"name": {name}, "phones": {phone}, "address": {address}},
		}
	}
	records := []*entity.Record{
		record("1", "14951cfa-7a7f-bd53-7a50-013e4e2afbde", "Joes Pizza", "415-555-2300", "1000 Market Street"),
		record("2", "6f5169fb-7a7f-bd53-7a50-013e4e2afbdf", "Quill Dental", "415-555-7777", "3 Elm St."),
		record("3", "ba2da6fc-7a7f-bd53-7a50-013e4e2afbe0", "Joe's", "(415) 555-2300", "1000 Market St."),
	}
	for _, members := range resolve.Batch(match.New(match.Place(), nil), records) {
		fmt.Print(members[0].Birth)
		for _, rec := range members {
			fmt.Print(" ", rec.Key)
		}
		fmt.Println()
	}
	// Output:
	// 14951cfa-7a7f-bd53-7a50-013e4e2afbde 1 3
	// 6f5169fb-7a7f-bd53-7a50-013e4e2afbdf 2
}
