// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"slices"
	"time"
)

// Support is the evidence for a value of a view.
type Support struct {
	// Weight is the sum over its records of trust x freshness x worth, as Merge weighs it: 1 for a value that one fully
	// trusted source observed last.
	Weight float64
	// Led reports that the value comes first although another one weighs more, because it comes from the record whose
	// values in the block weigh most together, such as the city that belongs to the street shown.
	Led bool
}

// Supports returns the evidence for each value of a view that Merge made of these members, by attribute and in the
// order of its values.
func Supports(members []Testimony, policy Policy, view View) map[string][]Support {
	var newest time.Time
	for _, m := range members {
		if m.Observed.After(newest) {
			newest = m.Observed
		}
	}
	all, room := make(map[string][]Support, len(view)), newRoom(members)
	for _, a := range view {
		candidates := weigh(a.Name, members, newest, policy, room, nil)
		for i := range candidates {
			slices.Sort(candidates[i].members)
		}
		list := make([]Support, len(a.Values))
		for i, v := range a.Values {
			at := slices.IndexFunc(candidates, func(c candidate) bool {
				return c.raw == v.Value || v.Pinned && slices.Equal(c.members, v.Members)
			})
			if at >= 0 {
				list[i] = Support{Weight: float64(candidates[at].weight) / 1e6, Led: i == 0 && !v.Pinned && candidates[at].weight < candidates[0].weight}
			}
		}
		all[a.Name] = list
	}
	return all
}
