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

// saying is the contribution of a record to its entity. It is a function of the record alone, so it is computed once.
type saying struct {
	values map[string][]entity.Spelling
	words  []string
	terms  []uint64
}

func (r *Resolver) say(n *node) *saying {
	if s := n.said.Load(); s != nil {
		return s
	}
	all := 0
	for _, raws := range n.Attributes {
		all += len(raws)
	}
	s := &saying{
		values: make(map[string][]entity.Spelling, len(n.Attributes)),
		terms:  make([]uint64, 0, 4+2*all),
	}
	s.terms = append(s.terms, entity.Term("", n.kind.Name()))
	room := make([]entity.Spelling, all)
	matcher := n.kind.Matcher
	attributes := matcher.Schema().Attributes
	for at := range attributes {
		a := &attributes[at]
		raws := n.Attributes[a.Name]
		if len(raws) == 0 {
			continue
		}
		spellings := room[:len(raws):len(raws)]
		room = room[len(raws):]
		for i, raw := range raws {
			var value match.Said
			if n.norm != nil {
				value = n.norm.Said(a, i)
			} else {
				value = matcher.Said(a, match.Attributes(n.Attributes), i)
			}
			spellings[i] = entity.Spelling{Raw: raw, Normal: value.Normal, Worth: value.Worth, Local: value.Local}
			if value.Normal == "" {
				continue
			}
			s.terms = exact(s.terms, a, value.Normal)
			if Searched(*a) {
				s.words = append(s.words, value.Words()...)
			}
			if a.Type == match.TypePhone && value.Alone != value.Normal { // searches often omit the country code
				s.terms = exact(s.terms, a, value.Alone)
			}
		}
		s.values[a.Name] = spellings
	}
	n.said.Store(s) // another entity of the plan may compute it concurrently
	return s
}

// Searched reports whether the words of an attribute are searchable: name, category and locality. Words of
// addresses, descriptions and opening hours would take more space than all of these together; an address
// can be found by exact value.
func Searched(a match.Attribute) bool {
	return a.Type == match.TypeName || a.Type == match.TypeCategory || a.Type == match.TypePeople || a.Role == match.RoleLocality
}

// exact appends the terms of a value: one for its presence, and one for the value if it is searchable. A
// category has a term for every level of its path.
func exact(terms []uint64, a *match.Attribute, normal string) []uint64 {
	terms = append(terms, entity.Term(a.Name, ""))
	switch {
	case !Exact(*a):
		return terms
	case a.Type == match.TypeCategory:
		levels := 0
		for level := range strings.SplitSeq(normal, " > ") {
			terms = append(terms, entity.Term(a.Name, level))
			levels++
		}
		if levels == 1 {
			return terms
		}
	}
	return append(terms, entity.Term(a.Name, normal))
}

// Exact reports whether entities can be found by the exact value of an attribute. Coordinates cannot.
func Exact(a match.Attribute) bool { return a.Type != match.TypeGeo }

// build returns the entity of a cluster with its merged view and search keys. Clusters are built
// concurrently; each record is in one of them.
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

// Supports returns the evidence for the values of an entity's view. records are the records of its members, in their
// order.
func (r *Resolver) Supports(e *entity.Entity, records []*entity.Record) map[string][]entity.Support {
	testimony := make([]entity.Testimony, len(records))
	var policy entity.Policy
	for i, rec := range records {
		n := r.node(rec)
		testimony[i], policy = entity.Testimony{Member: i, Source: n.Source, Observed: n.Observed, Values: r.say(n).values}, n.kind.Policy
	}
	if policy == nil {
		return nil
	}
	return entity.Supports(testimony, policy, e.View)
}

// pin converts a value chosen by a decision, normalised as part of its record, and adds it to the search
// keys.
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
	e.Words, e.Terms = sortedSet(slices.Concat(e.Words, said.words)), sortedSet(slices.Concat(e.Terms, said.terms))
	return entity.Pin{Attribute: d.Attribute, Spelling: spellings[0]}, true
}

func sortedSet[T cmp.Ordered](all []T) []T {
	slices.Sort(all)
	return slices.Compact(all)
}

func (r *Resolver) index(e *entity.Indexed, members []*node) {
	words, terms := 0, 0
	for _, n := range members {
		said := r.say(n)
		words, terms = words+len(said.words), terms+len(said.terms)
	}
	e.Words, e.Terms = slices.Grow(e.Words, words), slices.Grow(e.Terms, terms)
	for _, n := range members {
		said := r.say(n)
		e.Words = append(e.Words, said.words...)
		e.Terms = append(e.Terms, said.terms...)
	}
	e.Words, e.Terms = sortedSet(e.Words), sortedSet(e.Terms)
}

// SchemaPolicy implements the survivorship rules of a schema: attribute order, trust in sources, and
// half-lives.
type SchemaPolicy struct {
	*match.Schema
	names  []string
	blocks [][]string
}

// NewSchemaPolicy returns the policy of a schema, which must not change afterwards.
func NewSchemaPolicy(s *match.Schema) SchemaPolicy {
	p := SchemaPolicy{Schema: s, names: make([]string, len(s.Attributes)), blocks: s.Blocks()}
	for i := range s.Attributes {
		p.names[i] = s.Attributes[i].Name
	}
	return p
}

// Names returns the attributes in schema order. The caller must not change them.
func (p SchemaPolicy) Names() []string { return p.names }

// attribute returns an attribute of the schema, nil if it declares none with the name. Schema.Attribute copies it.
func (p SchemaPolicy) attribute(name string) *match.Attribute {
	if i := slices.Index(p.names, name); i >= 0 {
		return &p.Attributes[i]
	}
	return nil
}

// Many reports whether the schema declares a list.
func (p SchemaPolicy) Many(attribute string) bool {
	a := p.attribute(attribute)
	return a != nil && a.Many
}

// Blocks returns the blocks of the schema. The caller must not change them.
func (p SchemaPolicy) Blocks() [][]string { return p.blocks }

// Trust returns the declared trust in a source for an attribute.
func (p SchemaPolicy) Trust(source, attribute string) float64 { return p.TrustIn(source, attribute) }

// halfLife is the default in days. Two years is a judgement, not a measurement: long enough that a source
// read once a year still counts, short enough that a changed number wins.
const halfLife = 730

// HalfLife returns the half-life of an attribute in days, two years if the schema declares none.
func (p SchemaPolicy) HalfLife(attribute string) float64 {
	if a := p.attribute(attribute); a != nil && a.HalfLife > 0 {
		return float64(a.HalfLife)
	}
	return halfLife
}

// Alone returns the entity of a single record: what the record belongs to between its put and its
// resolution.
func (r *Resolver) Alone(rec *entity.Record) *entity.Entity {
	return r.build(&cluster{nodes: []*node{r.node(rec)}}).Entity
}
