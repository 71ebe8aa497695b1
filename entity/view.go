// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// View is the merged view of an entity: its attributes in schema order, each with its values, heaviest
// first. It is a pure function of the members (see Merge), so it can be rebuilt at any time and does not
// depend on the order of the members.
type View []MergedAttribute

// MergedAttribute is one attribute of a view.
type MergedAttribute struct {
	Name string `json:"name"`
	// Values is never empty. For a single-valued attribute the first is the value; the others are
	// alternatives that lost, kept with their provenance.
	Values []MergedValue `json:"values"`
}

// MergedValue is a value with its provenance.
type MergedValue struct {
	// Value is a raw spelling, byte for byte as one of the members sent it.
	Value string `json:"value"`
	// Members are the positions in Entity.Members of the records with this value, in any spelling. Empty if
	// only a decision sets the value.
	Members []int `json:"members"`
	// Pinned marks a value that a decision chose.
	Pinned bool `json:"pinned,omitempty"`
}

// First returns the first value of an attribute, "" if it has none.
func (v View) First(attribute string) string {
	for _, a := range v {
		if a.Name == attribute {
			return a.Values[0].Value
		}
	}
	return ""
}

// Testimony is the part of a member that Merge needs.
type Testimony struct {
	Member   int // position in Entity.Members
	Source   string
	Observed time.Time
	Values   map[string][]Spelling
}

// Spelling is one value of one record, raw and normalised. Values with equal normal forms support each
// other. A spelling that normalises to "" (such as "N/A") is not evidence and is never shown.
type Spelling struct {
	Raw, Normal string
	// Worth is the information content of the value in percent: a name of one word is worth less than one of
	// three. 0 means 100.
	Worth int
}

// Pin is a value that a decision chose for an attribute.
type Pin struct {
	Attribute string
	Spelling
}

// Policy configures how attributes are merged and how much a source is trusted.
type Policy interface {
	// Names returns the attributes of a view, in order.
	Names() []string
	// Many reports whether the view shows all values of an attribute or only the winning one.
	Many(attribute string) bool
	// Trust returns the weight of a fresh value, above 0.
	Trust(source, attribute string) float64
	// HalfLife returns the number of days after which a value counts half, above 0.
	HalfLife(attribute string) float64
	// Blocks returns groups of attributes whose values are shown together, from records that agree, such as
	// an address and its city. The first attribute of a block is the most specific. An attribute is in at
	// most one block and is single-valued.
	Blocks() [][]string
}

// listShare is the fraction of the heaviest value's weight below which a value of a list is not shown.
const listShare = 0.1

// Merge makes the view. The weight of a value is the sum over its supporting records of trust x 2^(-age /
// half-life) x worth. Age is in whole days before the newest observation among the members, not before now,
// so that a view does not change overnight. The heaviest value comes first, in its longest spelling; ties
// go to the smaller hash of the value, so that no source is favoured by its name. In a list, values with
// less than a tenth of the heaviest weight are dropped. The values of a block come from the record whose
// values have the largest total weight; see lead. A pinned value comes first, whatever its weight, in the
// pin's spelling.
func Merge(members []Testimony, policy Policy, pins ...Pin) View {
	var newest time.Time
	for _, m := range members {
		if m.Observed.After(newest) {
			newest = m.Observed
		}
	}
	names := policy.Names()
	weighed := make(map[string][]candidate, len(names))
	for _, name := range names {
		if candidates := weigh(name, members, newest, policy); len(candidates) > 0 {
			weighed[name] = candidates
		}
	}
	if len(members) > 1 { // a single record leads all its blocks
		for _, block := range policy.Blocks() {
			lead(block, members, weighed)
		}
	}
	var view View
	for _, name := range names {
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

// candidate is one normalised value with its support. Weights are integers in millionths, because float
// sums depend on their order.
type candidate struct {
	normal, raw string
	weight      int64
	members     []int
}

// weigh returns the values of an attribute, heaviest first.
func weigh(name string, members []Testimony, newest time.Time, policy Policy) (candidates []candidate) {
	var at map[string]int // the place of each candidate, once they are too many to search
	for i := range members {
		m := &members[i]
		said := m.Values[name]
		if len(said) == 0 {
			continue
		}
		age := math.Floor(newest.Sub(m.Observed).Hours() / 24)
		weight := int64(math.Round(1e6 * policy.Trust(m.Source, name) * math.Exp2(-age/policy.HalfLife(name))))
		for _, s := range said {
			if s.Normal == "" {
				continue
			}
			i, known := at[s.Normal]
			if at == nil {
				i = slices.IndexFunc(candidates, func(c candidate) bool { return c.normal == s.Normal })
				known = i >= 0
			}
			if !known {
				i = len(candidates)
				candidates = append(candidates, candidate{normal: s.Normal, raw: s.Raw})
				at = indexed(at, candidates)
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

// mostSearched is how many candidates are searched one after another, which is faster than a map for the few values
// that an attribute usually has.
const mostSearched = 32

// indexed returns the places of the candidates by normal form, of which the last one is new; nil while they are few.
func indexed(at map[string]int, candidates []candidate) map[string]int {
	switch last := len(candidates) - 1; {
	case at != nil:
		at[candidates[last].normal] = last
	case len(candidates) > mostSearched:
		at = make(map[string]int, 2*len(candidates))
		for i, c := range candidates {
			at[c.normal] = i
		}
	}
	return at
}

// values returns the values that a view shows of an attribute: the pinned value, then the candidates.
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
