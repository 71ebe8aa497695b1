// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// The rows that the probes of a call will need are read for all probes in a few rounds before they run. That saves
// waiting and never changes a result: a probe reads missing rows itself, and ignores rows that it does not need.

// foreseeCandidates normalises the probes and reads the records that they will be compared with.
func (p *peek) foreseeCandidates(ctx context.Context, probes []*hypothesis) {
	for _, h := range probes {
		if h.target.puid != 0 {
			p.nodes.ask([]entity.PUID{h.target.puid})
		}
	}
	p.fill(ctx)
	parallel(len(probes), func(i int) { probes[i].normalise() })
	keys := make([][]uint64, len(probes))
	for i, h := range probes {
		for _, n := range []*match.Record{h.norm, p.normOf(h.target.puid)} {
			if n == nil {
				continue
			}
			for _, f := range n.BlockingKeys() {
				most := 2 // for identical records it only matters whether there are others
				if !match.IsEqual(f.Hash) {
					most = match.BlockLimit(f.Hash) + 2 // the probe may gain or lose the key
				}
				p.limits[f.Hash] = max(p.limits[f.Hash], most)
				keys[i] = append(keys[i], f.Hash)
			}
		}
		p.carriers.ask(keys[i])
	}
	p.fill(ctx)
	for i, h := range probes {
		for _, f := range keys[i] {
			if carriers := p.carriers.known[f].records; match.IsEqual(f) || len(carriers) <= match.BlockLimit(f) {
				p.nodes.ask(carriers)
			}
		}
		p.nodes.ask(h.Also)
	}
	p.fill(ctx)
}

// normOf returns the normalised form of a record that has been read, or nil.
func (p *peek) normOf(q entity.PUID) *match.Record {
	if n := p.nodes.known[q]; n != nil {
		return n.norm
	}
	return nil
}

// normalise sets kind and norm. A kind that does not exist is refused later.
func (h *hypothesis) normalise() {
	op := &h.ops[0]
	if h.kind = h.Rules().Kind(op.Kind); h.kind != nil {
		h.norm = h.kind.Matcher.Normalise(op.Source, op.Key, match.Attributes(op.Attributes))
	}
}

// foreseeEntities reads the entities that will be listed, and the surroundings that a put would read: the entities on
// the other side of its new edges, and the edges between their records.
func (p *peek) foreseeEntities(ctx context.Context, probes []*hypothesis) {
	var joined []entity.PUID // anchors
	for _, h := range probes {
		for _, pair := range h.pairs {
			p.entities.ask([]entity.PUID{pair.with.Anchor})
		}
		if !h.Put || !h.stores {
			continue
		}
		for _, e := range h.edges {
			p.around.ask([]entity.PUID{e.B})
			joined = append(joined, h.nodes[e.B].Anchor)
		}
	}
	p.entities.ask(joined)
	p.fill(ctx)
	for _, anchor := range joined {
		e := p.entities.known[anchor]
		if e == nil {
			continue
		}
		for _, m := range e.Members {
			p.around.ask([]entity.PUID{m.PUID})
			p.nodes.ask([]entity.PUID{m.PUID})
		}
	}
	p.fill(ctx)
}
