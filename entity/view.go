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
	// Local, if not empty, is the end of a normal form that may lack its beginning, such as that of a phone number without
	// a country code. The spelling supports the only fuller value of the entity that ends in it.
	Local string
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
// go to the smaller hash of the value, so that no source is favoured by its name. A value that lacks its
// beginning counts for the fuller one; see Spelling.Local. In a list, values with less than a tenth of the
// heaviest weight are dropped. The values of a block come from the record whose values have the largest total
// weight; see lead. A pinned value comes first, whatever its weight, in the pin's spelling.
func Merge(members []Testimony, policy Policy, pins ...Pin) View {
	var newest time.Time
	for _, m := range members {
		if m.Observed.After(newest) {
			newest = m.Observed
		}
	}
	names, room := policy.Names(), newRoom(members)
	weighed, attributes, all := make([][]candidate, len(names)), len(pins), len(pins)
	for i, name := range names {
		if weighed[i] = weigh(name, members, newest, policy, room, pinOf(name, pins)); len(weighed[i]) > 0 {
			attributes, all = attributes+1, all+len(weighed[i])
		}
	}
	if len(members) > 1 { // a single record leads all its blocks
		for _, block := range policy.Blocks() {
			lead(block, members, names, weighed)
		}
	}
	view, shown := make(View, 0, attributes), make([]MergedValue, 0, all)
	for i, name := range names {
		from := len(shown)
		shown = values(shown, weighed[i], policy.Many(name), pinOf(name, pins))
		if to := len(shown); to > from {
			view = append(view, MergedAttribute{Name: name, Values: shown[from:to:to]})
		}
	}
	if len(view) == 0 {
		return nil
	}
	return view
}

// pinOf returns the value that a decision chose for an attribute, nil without one.
func pinOf(attribute string, pins []Pin) *Pin {
	if i := slices.IndexFunc(pins, func(p Pin) bool { return p.Attribute == attribute }); i >= 0 {
		return &pins[i]
	}
	return nil
}

// candidate is one normalised value with its support. Weights are integers in millionths, because float
// sums depend on their order.
type candidate struct {
	normal, local, raw string
	pinned             bool // it is the value of the pin
	weight             int64
	members            []int
}

// room is memory for the candidates of all attributes, and for the first member of each.
type room struct {
	candidates []candidate // empty, with the capacity that is left
	members    []int
}

func newRoom(members []Testimony) *room {
	n := 0
	for i := range members {
		for _, said := range members[i].Values {
			n += len(said)
		}
	}
	return &room{make([]candidate, 0, n), make([]int, 0, n)}
}

// first returns a list of one member.
func (r *room) first(member int) []int {
	r.members = append(r.members, member)
	n := len(r.members)
	return r.members[n-1 : n : n]
}

// weigh returns the values of an attribute, heaviest first.
func weigh(name string, members []Testimony, newest time.Time, policy Policy, room *room, chosen *Pin) []candidate {
	candidates := collect(name, members, newest, policy, room, nil)
	same := unite(candidates, chosen)
	if len(same) > 0 {
		candidates = collect(name, members, newest, policy, room, same)
	}
	for i := range candidates {
		candidates[i].pinned = chosen != nil && candidates[i].normal == same.of(chosen.Normal)
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		if a.weight != b.weight {
			return cmp.Compare(b.weight, a.weight)
		}
		return compareHashes(a.normal, b.normal)
	})
	return candidates
}

// collect returns the values of an attribute with their support. Those that are the same count for the fullest.
func collect(name string, members []Testimony, newest time.Time, policy Policy, room *room, same united) []candidate {
	candidates := room.candidates
	var at map[string]int // the place of each candidate, once they are too many to search
	for i := range members {
		m := &members[i]
		said := m.Values[name]
		if len(said) == 0 {
			continue
		}
		trust := 1e6 * policy.Trust(m.Source, name)
		if age := math.Floor(newest.Sub(m.Observed).Hours() / 24); age > 0 {
			trust *= math.Exp2(-age / policy.HalfLife(name))
		}
		weight := int64(math.Round(trust))
		for _, s := range said {
			if s.Normal == "" {
				continue
			}
			normal := same.of(s.Normal)
			i, known := at[normal]
			if at == nil {
				i = slices.IndexFunc(candidates, func(c candidate) bool { return c.normal == normal })
				known = i >= 0
			}
			if !known {
				i = len(candidates)
				candidates = append(candidates, candidate{normal: normal, local: s.Local})
				at = indexed(at, candidates)
			}
			c := &candidates[i]
			if s.Normal == normal && (len(s.Raw) > len(c.raw) || len(s.Raw) == len(c.raw) && s.Raw < c.raw) {
				c.raw = s.Raw
			}
			switch n := len(c.members); {
			case n == 0:
				c.members = room.first(m.Member)
			case c.members[n-1] == m.Member:
				continue
			default:
				c.members = append(c.members, m.Member)
			}
			c.weight += weight * int64(cmp.Or(s.Worth, 100)) / 100
		}
	}
	room.candidates = candidates[len(candidates):]
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

// compareHashes orders texts by their hashes.
func compareHashes(a, b string) int {
	return cmp.Or(cmp.Compare(xxhash.Sum64String(a), xxhash.Sum64String(b)), cmp.Compare(a, b))
}

// values appends the values that a view shows of an attribute: the pinned value, then the candidates.
func values(to []MergedValue, candidates []candidate, many bool, chosen *Pin) []MergedValue {
	if chosen != nil {
		pinned := MergedValue{Value: chosen.Raw, Members: []int{}, Pinned: true}
		for _, c := range candidates {
			if c.pinned {
				slices.Sort(c.members)
				pinned.Members = c.members
			}
		}
		to = append(to, pinned)
	}
	for _, c := range candidates {
		if c.pinned {
			continue
		}
		if many && float64(c.weight) < listShare*float64(candidates[0].weight) {
			break
		}
		slices.Sort(c.members)
		to = append(to, MergedValue{Value: c.raw, Members: c.members})
	}
	return to
}
