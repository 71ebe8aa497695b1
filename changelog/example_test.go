// SPDX-License-Identifier: Apache-2.0

package changelog_test

import (
	"fmt"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// A reader of the changes in order can reconstruct the members of every entity.
func Example() {
	a := locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2")
	b := locality.MustParse("c8c9cef9-7a7f-bd53-7a50-013e4e2afbde")
	seven, nine := changelog.Version{PUID: 7, Version: 1}, changelog.Version{PUID: 9, Version: 1}
	log := []changelog.Change{
		{Seq: 1, Kind: changelog.Put, Entity: a, After: []changelog.Version{seven}},
		{Seq: 2, Kind: changelog.Created, Entity: a, After: []changelog.Version{seven}},
		{Seq: 3, Kind: changelog.Put, Entity: b, After: []changelog.Version{nine}},
		{Seq: 4, Kind: changelog.Created, Entity: b, After: []changelog.Version{nine}},
		{Seq: 5, Kind: changelog.Merged, Entity: a, Before: []changelog.Version{seven},
			After: []changelog.Version{seven, nine}},
		{Seq: 6, Kind: changelog.Retired, Entity: b, Into: a, Before: []changelog.Version{nine}},
	}

	members := map[locality.ID][]changelog.Version{}
	for _, c := range log {
		if c.Kind != changelog.Put && c.Kind != changelog.Deleted {
			members[c.Entity] = c.After
		}
	}
	for _, id := range []locality.ID{a, b} {
		var puids []entity.PUID
		for _, m := range members[id] {
			puids = append(puids, m.PUID)
		}
		fmt.Println(id, puids)
	}
	// Output:
	// 20be0ffc-314a-bd53-7a50-013a65ca76d2 [7 9]
	// c8c9cef9-7a7f-bd53-7a50-013e4e2afbde []
}
