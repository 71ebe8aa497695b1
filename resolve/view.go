// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// saying is what a record contributes to its entity: a function of the record alone, so it is made
// once, however often the entity is.
type saying struct {
	values map[string][]entity.Spelling
	words  []string
	terms  []uint64
}

func (r *Resolver) say(n *node) *saying {
	if s := n.said.Load(); s != nil {
		return s
	}
	s := &saying{values: make(map[string][]entity.Spelling, len(n.Attributes)), terms: []uint64{entity.Term("", n.kind.Name())}}
	for _, a := range n.kind.Matcher.Schema().Attributes {
		raws := n.Attributes[a.Name]
		if len(raws) == 0 {
			continue
		}
		spellings := make([]entity.Spelling, len(raws))
		for i, raw := range raws {
			normal := n.norm.Value(a.Name, i)
			spellings[i] = entity.Spelling{Raw: raw, Normal: normal, Worth: n.norm.Worth(a.Name, i)}
			if normal == "" {
				continue
			}
			s.terms = append(s.terms, exact(a, normal)...)
			if searched(a) {
				s.words = append(s.words, match.NameTokens(raw)...)
			}
			if a.Type == match.TypePhone { // people leave out the country
				if national := n.kind.Matcher.NormaliseValue(a.Name, raw); national != normal {
					s.terms = append(s.terms, exact(a, national)...)
				}
			}
		}
		s.values[a.Name] = spellings
	}
	n.said.Store(s) // another entity of the plan may have it said at the same time
	return s
}

// searched tells whether people search by the words of an attribute: what a thing is called, what it is
// and where it is. Words of addresses, descriptions and hours cost more bytes than all of these; an
// address is found by its exact value.
func searched(a match.Attribute) bool {
	return a.Type == match.TypeName || a.Type == match.TypeCategory || a.Role == match.RoleLocality
}

// exact are the terms of a value: that there is one, and the value, if anybody would ask for it whole. A
// category is every level of its path.
func exact(a match.Attribute, normal string) []uint64 {
	terms := []uint64{entity.Term(a.Name, "")}
	switch {
	case !Exact(a):
		return terms
	case a.Type == match.TypeCategory:
		for level := range strings.SplitSeq(normal, " > ") {
			terms = append(terms, entity.Term(a.Name, level))
		}
		if len(terms) == 2 {
			return terms
		}
	}
	return append(terms, entity.Term(a.Name, normal))
}

// Exact tells whether entities can be found by the exact value of an attribute. Nobody knows a coordinate
// to the last digit.
func Exact(a match.Attribute) bool { return a.Type != match.TypeGeo }

// build makes the entity of a cluster, with its merged view and what it can be found by. Clusters are
// built side by side; a record is in one of them.
func (r *Resolver) build(c *cluster) entity.Indexed {
	kind := c.nodes[0].kind
	e := &entity.Entity{ID: c.nodes[0].Birth, Kind: kind.Name(), Members: make([]entity.Member, len(c.nodes))}
	testimony := make([]entity.Testimony, len(c.nodes))
	indexed := entity.Indexed{Entity: e}
	for i, n := range c.nodes {
		said := r.say(n)
		e.Members[i] = entity.Member{PUID: n.PUID, Ref: n.Ref, Version: n.Version}
		testimony[i] = entity.Testimony{Member: i, Source: n.Source, Observed: n.Observed, Values: said.values}
	}
	r.index(&indexed, c.nodes)
	var pins []entity.Pin
	for _, d := range c.pins {
		if pin, ok := r.pin(&indexed, c.nodes, d); ok {
			pins = append(pins, pin)
		}
	}
	e.Stamp = entity.Stamp(e.Members, kind.Hash, c.pins...)
	e.View = entity.Merge(testimony, kind.Policy, pins...)
	e.Rank = entity.RankOf(e.Members, e.View, kind.Policy)
	return indexed
}

// pin is a value that a person chose, as it reads beside what its record says. The entity is found by it too.
func (r *Resolver) pin(e *entity.Indexed, members []*node, d entity.Decision) (pin entity.Pin, ok bool) {
	i := slices.IndexFunc(members, func(n *node) bool { return n.PUID == d.A })
	if d.Verdict != entity.VerdictValue || i < 0 {
		return pin, false
	}
	rec := *members[i].Record
	rec.Attributes = maps.Clone(rec.Attributes)
	rec.Attributes[d.Attribute] = []string{d.Value}
	said := r.say(r.node(&rec))
	spellings := said.values[d.Attribute]
	if len(spellings) == 0 {
		return pin, false // another schema
	}
	e.Words, e.Terms = sortedUnion(e.Words, said.words), sortedUnion(e.Terms, said.terms)
	return entity.Pin{Attribute: d.Attribute, Spelling: spellings[0]}, true
}

// sortedUnion is what is in either list, in order, each once.
func sortedUnion[T cmp.Ordered](a, b []T) []T {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// index adds to an entity what it can be found by, which its members say.
func (r *Resolver) index(e *entity.Indexed, members []*node) {
	for _, n := range members {
		said := r.say(n)
		e.Words = append(e.Words, said.words...)
		e.Terms = append(e.Terms, said.terms...)
	}
	e.Words, e.Terms = sortedUnion(e.Words, nil), sortedUnion(e.Terms, nil)
}

// SchemaPolicy is the survivorship of a schema: its attributes in their order, the trust that it
// declares for each source, and the half-lives of its attributes.
type SchemaPolicy struct{ *match.Schema }

// Names are the attributes in the order of the schema.
func (p SchemaPolicy) Names() []string {
	names := make([]string, len(p.Attributes))
	for i, a := range p.Attributes {
		names[i] = a.Name
	}
	return names
}

// Many tells whether the schema declares a list.
func (p SchemaPolicy) Many(attribute string) bool {
	a, _ := p.Attribute(attribute)
	return a.Many
}

// Blocks are those of the schema.
func (p SchemaPolicy) Blocks() [][]string { return p.Schema.Blocks() }

// Trust is the declared trust in what a source says of an attribute.
func (p SchemaPolicy) Trust(source, attribute string) float64 { return p.TrustIn(source, attribute) }

// halfLife is in days. Two years is a judgement and not a measurement: long enough that a source
// which is read once a year is still heard, short enough that a number that was changed wins.
const halfLife = 730

// HalfLife is that of the attribute, two years if the schema declares none.
func (p SchemaPolicy) HalfLife(attribute string) float64 {
	if a, _ := p.Attribute(attribute); a.HalfLife > 0 {
		return float64(a.HalfLife)
	}
	return halfLife
}

// Alone is the entity of a record by itself: what a record is part of from its put until it is
// resolved.
func (r *Resolver) Alone(rec *entity.Record) *entity.Entity {
	return r.build(&cluster{nodes: []*node{r.node(rec)}}).Entity
}
