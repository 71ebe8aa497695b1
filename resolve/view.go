// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// saying is what a record contributes to its entity: a function of the record alone, so it is made
// once, however often the entity is.
type saying struct {
	values map[string][]entity.Spelling
	names  []string
	terms  []uint64
}

func (r *Resolver) say(n *node) *saying {
	if n.said != nil {
		return n.said
	}
	s := &saying{values: make(map[string][]entity.Spelling, len(n.Attributes))}
	point := ""
	attributes := n.kind.Matcher.Schema().Attributes
	for _, a := range attributes {
		raws := n.Attributes[a.Name]
		if len(raws) == 0 {
			continue
		}
		spellings := make([]entity.Spelling, len(raws))
		for i, raw := range raws {
			normal := n.norm.Value(a.Name, i)
			spellings[i] = entity.Spelling{Raw: raw, Normal: normal, Worth: n.norm.Worth(a.Name, i)}
			if normal != "" {
				s.terms = append(s.terms, entity.Term(a.Name, normal))
			}
			switch a.Type {
			case match.TypePhone: // people leave out the country
				if national := n.kind.Matcher.NormaliseValue(a.Name, raw); national != normal {
					s.terms = append(s.terms, entity.Term(a.Name, national))
				}
			case match.TypeName:
				s.names = append(s.names, match.NameTokens(raw)...)
			case match.TypeGeo:
				point += normal + " "
			}
		}
		s.values[a.Name] = spellings
	}
	// A latitude and a longitude are one value: those of two records would be a place where
	// nothing is.
	for _, a := range attributes {
		if spellings := s.values[a.Name]; a.Type == match.TypeGeo {
			for i := range spellings {
				if spellings[i].Normal != "" {
					spellings[i].Normal = point
				}
			}
		}
	}
	n.said = s
	return s
}

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
	e.Stamp = entity.Stamp(e.Members, kind.Hash)
	e.View = entity.Merge(testimony, kind.Policy)
	return indexed
}

// index adds to an entity what it can be found by, which its members say.
func (r *Resolver) index(e *entity.Indexed, members []*node) {
	for _, n := range members {
		said := r.say(n)
		e.Names = append(e.Names, said.names...)
		e.Terms = append(e.Terms, said.terms...)
	}
	slices.Sort(e.Terms)
	e.Terms = slices.Compact(e.Terms)
	slices.Sort(e.Names)
	e.Names = slices.Compact(e.Names)
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
