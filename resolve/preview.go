// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// NewKind returns the kind of a matcher.
func NewKind(m *match.Matcher) *Kind { return newKind(m) }

// Preview returns the entity that members would form under a kind, the anchor first, with the values that
// decisions chose. It reads and writes nothing.
func (r *Resolver) Preview(k *Kind, members []*entity.Record,
	decisions map[entity.PUID][]entity.Decision) *entity.Entity {
	c := &cluster{nodes: make([]*node, len(members))}
	for i, rec := range members {
		c.nodes[i] = &node{Record: rec, kind: k, norm: k.normalise(rec)}
		for _, d := range decisions[rec.PUID] {
			if d.Verdict == entity.VerdictValue && !d.Withdrawn {
				c.pins = append(c.pins, d)
			}
		}
	}
	slices.SortFunc(c.pins, func(a, b entity.Decision) int { return b.At.Compare(a.At) })
	return r.build(c).Entity
}
