// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// hypothesis is the batch of one probe.
type hypothesis struct {
	*batch
	*Probe
	target target
	kind   *Kind         // nil if there is no kind of that name
	norm   *match.Record // the probe under that kind
	result *Probed

	w      *write
	stores bool // a put would write w
	met    *candidateSet
	// alone reports whether the probe's record is the only one in the batch and leads the records with its content.
	// Then a put compares the same records, and edges is exactly the set it would store.
	alone bool
	edges edges
	pairs []pair // the best pair of each entity, once the probe was compared
}

// meet finds the records to compare the probe with and compares them, unless the prediction of a put, which compares
// different records, has to be made first.
func (h *hypothesis) meet(ctx context.Context, opts Matching) (err error) {
	if err = h.assume(ctx); err != nil {
		return err
	}
	if h.met, err = h.candidates(ctx); err != nil {
		return err
	}
	h.alone = len(h.writes) == 1 && leads(h.w.new, h.met.leaders)
	if h.alone || !h.Put {
		err = h.compare(ctx, opts)
	}
	return err
}

// tell completes the result.
func (h *hypothesis) tell(ctx context.Context, opts Matching) (err error) {
	if h.Put {
		if h.result.Put, err = h.predict(ctx); err != nil {
			return err
		}
	}
	if h.Put && !h.alone {
		if err := h.compare(ctx, opts); err != nil {
			return err
		}
	}
	return h.near(ctx, opts)
}

// assume adds the record of the probe to the batch, as the first round of a put does.
func (h *hypothesis) assume(ctx context.Context) error {
	t := &h.target
	var old *node
	if t.puid != 0 {
		stored := map[entity.PUID]*node{}
		if err := h.load(ctx, stored, []entity.PUID{t.puid}); err != nil {
			return err
		}
		old = stored[t.puid]
	}
	if old == nil { // a new key, or a key whose record was lost with its cell
		_, hi := h.opts.Cells.Map().PuidRange(t.cell)
		t.puid = entity.PUID(hi)
		old = &node{}
	}
	op := &h.ops[0]
	op.Delete = false
	kind := h.kind
	if kind == nil || kind != h.Rules().Kind(op.Kind) {
		return fmt.Errorf("%w: there is no kind %s, or another one since the probe was read", errOldRules, op.Kind)
	}
	p := &recordWriter{
		batch: h.batch, id: t.cell, group: h.pass, norms: map[int]*match.Record{0: h.norm},
	}
	if err := p.decide(0, t.puid, old.Record); err != nil {
		return err
	}
	var w *write
	switch {
	case len(p.writes) > 0:
		w = p.writes[0]
	case h.results[0].Outcome == Unchanged:
		w = &write{puid: t.puid, old: p.unchanged[0], new: p.unchanged[0]}
	default: // the older observation is compared, as if it were the newest
		rec := *old.Record
		rec.Attributes, rec.Kind = op.Attributes, kind.Name()
		w = &write{puid: t.puid, old: old, new: &node{Record: &rec, kind: kind, norm: h.norm}}
	}
	h.writes[w.puid], h.nodes[w.puid] = w, w.new
	h.w, h.stores = w, len(p.writes) > 0
	return nil
}

// predict returns what the put would do.
func (h *hypothesis) predict(ctx context.Context) (*Prediction, error) {
	w, made := h.w, &Prediction{Outcome: h.results[0].Outcome}
	if !h.stores {
		anchors := map[entity.PUID]*node{}
		err := h.load(ctx, anchors, []entity.PUID{w.old.Anchor})
		made.Entity = w.old.Birth
		if n := anchors[w.old.Anchor]; n != nil && !n.Deleted() {
			made.Entity = n.Birth
		}
		return made, err
	}
	if h.alone && len(h.edges) == 0 && made.Outcome == Created && w.new.Birth == unborn {
		return made, nil // it changes nothing but itself
	}
	p, err := h.decide(ctx)
	if err != nil {
		return nil, err
	}
	own := p.of[w.puid]
	if made.Outcome == Created && own.anchor() != w.puid {
		made.Outcome = Matched
	}
	if made.Entity = own.nodes[0].Birth; made.Entity == unborn {
		made.Entity = locality.ID{}
	}
	for anchor, old := range p.olds {
		parts := p.parts(old)
		if len(parts) > 1 {
			made.Splits = append(made.Splits, old.ID)
		}
		if p.byAnchor[anchor] == nil && len(parts) > 0 && parts[0] == own {
			made.Merges = append(made.Merges, old.ID)
		}
	}
	slices.SortFunc(made.Merges, locality.ID.Compare)
	slices.SortFunc(made.Splits, locality.ID.Compare)
	return made, nil
}

// decide is batch.decideAll, which compares nothing again.
func (h *hypothesis) decide(ctx context.Context) (*plan, error) {
	if !h.alone {
		return h.decideAll(ctx, h.met, nil)
	}
	return h.decideEdges(ctx, map[entity.PUID]edges{h.w.puid: h.edges}, nil)
}

// compare compares the probe with all records that share a blocking key with it and with the records of Also, and keeps
// the best pair of each entity.
func (h *hypothesis) compare(ctx context.Context, opts Matching) error {
	n, m := h.w.new, h.met
	candidates, err := h.comparable(ctx)
	if err != nil {
		return err
	}
	shared := len(candidates)
	for _, p := range unique(h.Also) {
		if p != n.PUID && !slices.Contains(candidates[:shared], p) {
			candidates = append(candidates, p)
		}
	}
	if err := h.load(ctx, h.nodes, candidates); err != nil {
		return err
	}
	m.count(n, h.nodes)
	matcher := m.matcher(n.kind)
	for i, p := range candidates {
		c := h.nodes[p]
		if i < shared && !h.findCandidates(n, c, m) || i >= shared && (c == nil || c.norm == nil || c.kind != n.kind) {
			continue
		}
		v := matcher.Compare(n.norm, c.norm)
		if weight, linked := matcher.Edge(n.norm, c.norm, v); linked && i < shared {
			h.edges = append(h.edges, derived.Edge{A: n.PUID, B: p, Vector: v, Weight: weight})
		}
		if weight := matcher.Sum(v); weight >= opts.Least {
			h.pairs = append(h.pairs, pair{c, v, weight, matcher.Decide(v)})
		}
	}
	slices.SortFunc(h.pairs, pair.compare)
	var anchors []entity.PUID
	h.pairs = slices.DeleteFunc(h.pairs, func(p pair) bool {
		if len(anchors) == opts.Top || slices.Contains(anchors, p.with.Anchor) {
			return true
		}
		anchors = append(anchors, p.with.Anchor)
		return false
	})
	h.result.Matcher = matcher
	return nil
}

// near lists the entities of the pairs.
func (h *hypothesis) near(ctx context.Context, opts Matching) error {
	n, result := h.w.new, h.result
	anchors := make([]entity.PUID, len(h.pairs))
	for i, p := range h.pairs {
		anchors[i] = p.with.Anchor
	}
	entities, err := h.entities(ctx, anchors)
	if err != nil {
		return err
	}
	for _, p := range h.pairs {
		e := entities[p.with.Anchor]
		if e == nil { // between its put and its resolution
			e = h.build(&cluster{nodes: []*node{p.with}}).Entity
		}
		near := Near{Entity: e, Record: p.with.Record, Outcome: p.outcome, Weight: p.weight, Vector: p.vector}
		if opts.Explain {
			near.Explanation = result.Matcher.Explain(n.norm, p.with.norm, p.vector).Facing(match.NodeKey(n.Ref))
		}
		result.Near = append(result.Near, near)
	}
	return nil
}

// comparable returns the records that share a blocking key with the probe, without stop keys. A put does not compare a
// follower with them, because it compares the leader; the probe is always compared.
func (h *hypothesis) comparable(ctx context.Context) ([]entity.PUID, error) {
	n, m, result := h.w.new, h.met, h.result
	var found []entity.PUID
	if !leads(n, m.leaders) {
		found = append(found, m.leaders[n.equal()])
		limits := map[uint64]int{}
		for _, f := range posted(n, true) {
			if _, read := m.carriers[f]; !read && !match.IsEqual(f) {
				limits[f] = m.limit(f)
			}
		}
		carriers, err := h.stored(ctx, limits)
		if err != nil {
			return nil, err
		}
		for f, list := range carriers {
			m.carriers[f] = list
		}
	}
	keys := n.norm.BlockingKeys()
	for _, f := range keys {
		if m.stopKey(f.Hash) {
			result.Skipped = append(result.Skipped, f.Kind)
			continue
		}
		found = append(found, m.carriers[f.Hash]...)
	}
	if result.Keys = len(keys); n.equal() != 0 {
		result.Keys-- // it only finds identical records
	}
	result.OnlyStopKeys = result.Keys > 0 && len(result.Skipped) == result.Keys
	slices.Sort(result.Skipped)
	result.Skipped = slices.Compact(result.Skipped)
	return slices.DeleteFunc(unique(found), func(p entity.PUID) bool { return p == n.PUID }), nil
}

// pair is the comparison of a probe with a record.
type pair struct {
	with    *node
	vector  match.Vector
	weight  match.Weight
	outcome match.Outcome
}

// compare orders pairs, the best first.
func (p pair) compare(q pair) int {
	rank := func(o match.Outcome) int {
		switch o {
		case match.Same:
			return 0
		case match.Possible:
			return 1
		default:
			return 2
		}
	}
	return cmp.Or(rank(p.outcome)-rank(q.outcome), cmp.Compare(q.weight, p.weight),
		cmp.Compare(p.with.Anchor, q.with.Anchor),
		cmp.Compare(p.with.PUID, q.with.PUID))
}
