// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// View is the merged view of an entity: its attributes in the order of the schema, each with its
// values, heaviest first. It is a pure function of the members (see Merge), so it can be made
// again at any time and does not depend on the order in which the members came.
type View []MergedAttribute

// MergedAttribute is one attribute of a view.
type MergedAttribute struct {
	Name string `json:"name"`
	// Values are never empty. Where the schema says that there is one value, it is the first;
	// the others are the spellings that lost, kept with who says so.
	Values []MergedValue `json:"values"`
}

// MergedValue is a value with its provenance.
type MergedValue struct {
	// Value is a raw spelling, byte for byte as one of the members sent it.
	Value string `json:"value"`
	// Members are the positions in Entity.Members of the records that say so, in whatever
	// spelling; none if nobody but a person does.
	Members []int `json:"members"`
	// Pinned tells that a person chose the value.
	Pinned bool `json:"pinned,omitempty"`
}

// First is the value of an attribute that people would name when asked for one, "" if there is
// none.
func (v View) First(attribute string) string {
	for _, a := range v {
		if a.Name == attribute {
			return a.Values[0].Value
		}
	}
	return ""
}

// Testimony is what Merge needs to know of one member.
type Testimony struct {
	Member   int // position in Entity.Members
	Source   string
	Observed time.Time
	Values   map[string][]Spelling
}

// Spelling is one value of one record: as received, and normalised. Values that are equal when
// normalised support each other. A spelling that normalises to nothing ("N/A") is not evidence and
// never shown.
type Spelling struct {
	Raw, Normal string
	// Worth is how much of what its attribute can say the value says, in hundredths: a name of one
	// word less than one of three. 0 is 100.
	Worth int
}

// Pin is a value that a person chose for an attribute.
type Pin struct {
	Attribute string
	Spelling
}

// Policy says how much a source is believed.
type Policy interface {
	// Names are the attributes of a view, in order.
	Names() []string
	// Many tells whether all values of an attribute are shown, or one wins.
	Many(attribute string) bool
	// Trust is the weight of a fresh value, above 0.
	Trust(source, attribute string) float64
	// HalfLife is the number of days after which a value counts half, above 0.
	HalfLife(attribute string) float64
	// Blocks are attributes whose values are shown together, from records that agree: an address and its city. Each
	// block begins with the attribute that says most. An attribute is in one block at most, and is not a list.
	Blocks() [][]string
}

// listShare is the share of the heaviest value's weight from which a value of a list is shown.
const listShare = 0.1

// Merge makes the view. The weight of a value is the sum over the records that support it of
// trust x 2^(-age / half-life) x worth, where age is in whole days before the newest observation among
// the members (not before now: a view must not change overnight). The heaviest value leads, in its
// longest spelling; ties go to the smaller hash of the value, so that no source is favoured by its
// name. In an attribute with many values those under a tenth of the heaviest are left out. The values of a block are
// those of one record, the one whose values weigh most together; see block. A value that a person chose comes first,
// whatever it weighs, and as the person spelled it.
func Merge(members []Testimony, policy Policy, pins ...Pin) View {
	var newest time.Time
	for _, m := range members {
		if m.Observed.After(newest) {
			newest = m.Observed
		}
	}
	weighed := make(map[string][]candidate, len(policy.Names()))
	for _, name := range policy.Names() {
		weighed[name] = weigh(name, members, newest, policy)
	}
	for _, block := range policy.Blocks() {
		lead(block, members, weighed)
	}
	var view View
	for _, name := range policy.Names() {
		var chosen *Pin
		if i := slices.IndexFunc(pins, func(p Pin) bool { return p.Attribute == name }); i >= 0 {
			chosen = &pins[i]
		}
		if values := values(weighed[name], policy.Many(name), chosen); len(values) > 0 {
			view = append(view, MergedAttribute{Name: name, Values: values})
		}
	}
	return view
}

// candidate is one normalised value with all that supports it. Its weight is kept in whole
// millionths, because sums of floats depend on their order.
type candidate struct {
	normal, raw string
	weight      int64
	members     []int
}

// weigh returns the values of an attribute, heaviest first.
func weigh(name string, members []Testimony, newest time.Time, policy Policy) (candidates []candidate) {
	for _, m := range members {
		age := math.Floor(newest.Sub(m.Observed).Hours() / 24)
		weight := int64(math.Round(1e6 * policy.Trust(m.Source, name) * math.Exp2(-age/policy.HalfLife(name))))
		for _, s := range m.Values[name] {
			if s.Normal == "" {
				continue
			}
			i := slices.IndexFunc(candidates, func(c candidate) bool { return c.normal == s.Normal })
			if i < 0 {
				i = len(candidates)
				candidates = append(candidates, candidate{normal: s.Normal, raw: s.Raw})
			}
			c := &candidates[i]
			if len(s.Raw) > len(c.raw) || len(s.Raw) == len(c.raw) && s.Raw < c.raw {
				c.raw = s.Raw
			}
			if n := len(c.members); n == 0 || c.members[n-1] != m.Member {
				c.members = append(c.members, m.Member)
				c.weight += weight * int64(cmp.Or(s.Worth, 100)) / 100
			}
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight),
			cmp.Compare(xxhash.Sum64String(a.normal), xxhash.Sum64String(b.normal)), cmp.Compare(a.normal, b.normal))
	})
	return candidates
}

// values are what a view shows of an attribute: what a person chose, then the candidates.
func values(candidates []candidate, many bool, chosen *Pin) (values []MergedValue) {
	if chosen != nil {
		pinned := MergedValue{Value: chosen.Raw, Members: []int{}, Pinned: true}
		for _, c := range candidates {
			if c.normal == chosen.Normal {
				slices.Sort(c.members)
				pinned.Members = c.members
			}
		}
		values = append(values, pinned)
	}
	for _, c := range candidates {
		if chosen != nil && c.normal == chosen.Normal {
			continue
		}
		if many && float64(c.weight) < listShare*float64(candidates[0].weight) {
			break
		}
		slices.Sort(c.members)
		values = append(values, MergedValue{Value: c.raw, Members: c.members})
	}
	return values
}
