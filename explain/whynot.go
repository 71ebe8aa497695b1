// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Comparison explains why two records are in one entity or in two. A, the first record of the request, is the first
// side of the explanation, B the second.
type Comparison struct {
	A       entity.Ref  `json:"a"`
	B       entity.Ref  `json:"b"`
	EntityA locality.ID `json:"entity_a"`
	EntityB locality.ID `json:"entity_b"`
	Kind    string      `json:"kind"` // of A, and of B unless the reason is two_kinds
	// Reason is the first of Reasons; Message is its sentence, with figures.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Reasons are all reasons, the strongest first: same_entity; decided (a human decided that they, or two records
	// around them, are different things), relation, no_common_blocking_key, only_stop_keys, below_threshold,
	// not_joined (they match, but other evidence around them outweighs it), cut (the component is too large),
	// two_kinds.
	Reasons []Reason `json:"reasons"`
	// Decided is the decision about the two, if there is one.
	Decided *entity.Decision `json:"decided,omitempty"`
	// Shared are the blocking keys that both records carry, with the number of records that carry each.
	Shared      []SharedKey       `json:"shared"`
	Threshold   match.Weight      `json:"threshold"`
	Explanation match.Explanation `json:"explanation"`
}

// Reason is one reason why two records are in one entity or in two.
type Reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// SharedKey is a blocking key that two records have in common.
type SharedKey struct {
	Kind         string `json:"kind"`
	Text         string `json:"text"`
	RecordsByKey int    `json:"block_size"`       // counted up to resolve.MaxBlockSize+1
	StopKey      bool   `json:"stop_key"`         // carried by too many records to make candidates
	Hidden       bool   `json:"hidden,omitempty"` // Text is withheld from the reader
}

// WhyNot compares the records at two addresses; an entity id means the entity's anchor. The error is a
// *locus.InvalidError with the pointer /a or /b if one of them is not an address.
func (h *Handle) WhyNot(ctx context.Context, a, b string) (*Comparison, error) {
	recA, err := h.entities.Record(ctx, a)
	if err != nil {
		return nil, problem.At("/a", err)
	}
	recB, err := h.entities.Record(ctx, b)
	if err != nil {
		return nil, problem.At("/b", err)
	}
	if recA.PUID == recB.PUID {
		return nil, problem.Invalid("/b", "invalid", "%s and %s are the same record", a, b)
	}
	if recA.Kind != recB.Kind {
		return h.otherKind(ctx, recA, recB)
	}
	of, err := h.records.WithEntities(ctx, []*entity.Record{recA, recB})
	if err != nil {
		return nil, err
	}
	normA, normB := h.engine.Normalise(recA), h.engine.Normalise(recB)
	m, err := h.among(ctx, recA.Kind, normA, normB)
	if err != nil {
		return nil, err
	}
	vector := m.Compare(normA, normB)
	w := &Comparison{
		A: recA.Ref, B: recB.Ref, EntityA: of[0].Entity, EntityB: of[1].Entity, Kind: recA.Kind,
		Shared: []SharedKey{}, Threshold: m.Threshold(),
		Explanation: m.Explain(normA, normB, vector).Facing(match.NodeKey(recA.Ref)),
	}
	for _, f := range w.Explanation.BlockingKeys {
		n, err := h.blockSize(ctx, f.Hash)
		if err != nil {
			return nil, err
		}
		w.Shared = append(w.Shared, SharedKey{Kind: f.Kind.String(), Text: f.Text, RecordsByKey: n,
			StopKey: n > match.BlockLimit(f.Hash)})
	}
	var c *resolve.Component
	if err := h.engine.Retry(ctx, func() (err error) {
		c, err = h.engine.Resolver.Component(ctx, recA.PUID)
		return err
	}); err != nil {
		return nil, err
	}
	made, err := h.engine.Decisions(ctx, []entity.PUID{recA.PUID})
	if err != nil {
		return nil, err
	}
	w.Decided = decisions.Between(made, []entity.PUID{recA.PUID}, []entity.PUID{recB.PUID})
	w.Reasons = w.reasons(m, vector)
	if w.EntityA != w.EntityB && c != nil {
		w.Reasons = append(w.Reasons, around(c, recA, recB)...)
	}
	if w.EntityA != w.EntityB && len(w.Reasons) == 0 {
		w.Reasons = []Reason{{"not_joined",
			fmt.Sprintf("the pair has %v bits, which is enough: the last write is still being resolved", w.Explanation.Weight)}}
	}
	w.Reason, w.Message = w.Reasons[0].Code, w.Reasons[0].Message
	return w, nil
}

// otherKind returns the comparison of records of two kinds, which are never compared.
func (h *Handle) otherKind(ctx context.Context, a, b *entity.Record) (*Comparison, error) {
	of, err := h.records.WithEntities(ctx, []*entity.Record{a, b})
	if err != nil {
		return nil, err
	}
	reason := Reason{"two_kinds", fmt.Sprintf("one is a %s, the other a %s", a.Kind, b.Kind)}
	return &Comparison{
		A: a.Ref, B: b.Ref, EntityA: of[0].Entity, EntityB: of[1].Entity, Kind: a.Kind, Reason: reason.Code,
		Message: reason.Message, Reasons: []Reason{reason},
		Shared: []SharedKey{}, Threshold: match.Threshold,
		Explanation: match.Explanation{A: match.NodeKey(a.Ref), B: match.NodeKey(b.Ref), Lines: []match.Line{},
			BlockingKeys: []match.SharedKey{}},
	}, nil
}

// reasons returns the reasons that follow from the pair alone, the strongest first.
func (w *Comparison) reasons(m *match.Matcher, v match.Vector) (list []Reason) {
	add := func(code, format string, args ...any) {
		list = append(list, Reason{code, fmt.Sprintf(format, args...)})
	}
	weight := w.Explanation.Weight
	if w.EntityA == w.EntityB {
		if w.Decided != nil && w.Decided.Verdict == entity.VerdictSame {
			add("same_entity", "they are one entity, %v: %s that they are one thing%s", w.EntityA, said(w.Decided),
				because(w.Decided))
		} else {
			add("same_entity", "they are one entity, %v; the pair has %v bits", w.EntityA, weight)
		}
		return list
	}
	if d := w.Decided; d != nil && d.Verdict == entity.VerdictDifferent {
		add("decided", "%s that they are two things%s", said(d), because(d))
	}
	switch m.Decide(v) {
	case match.PartOf:
		part, whole := w.A, w.B
		if entities.RelationOf(m, v, w.A, w.B) == "has_part" {
			part, whole = w.B, w.A
		}
		add("relation", "%v is a part of %v: the two are related, never the same", part, whole)
	case match.CoLocated:
		add("relation", "they are two things at one spot: related, never the same")
	}
	usable := slices.ContainsFunc(w.Shared, func(f SharedKey) bool { return !f.StopKey })
	switch {
	case len(w.Shared) == 0:
		add("no_common_blocking_key", "they share no blocking key, so they were never compared")
	case !usable:
		add("only_stop_keys", "they share only stop keys, which too many records have, so they were never compared")
	}
	if weight < w.Threshold {
		add("below_threshold", "the pair has %v bits, %v less than the required %v", weight, w.Threshold-weight, w.Threshold)
	}
	return list
}

// around returns the reasons that follow from the records around the pair.
func around(c *resolve.Component, a, b *entity.Record) (list []Reason) {
	at := func(rec *entity.Record) int {
		return slices.IndexFunc(c.Records, func(other *entity.Record) bool { return other.PUID == rec.PUID })
	}
	i, j := at(a), at(b)
	if j < 0 {
		if t := c.Kind.Matcher.Threshold(); c.Least > t {
			list = append(list, Reason{"cut", fmt.Sprintf("more than %d records are connected with %v, so joining it takes %v bits, not %v",
				match.MaxComponent, a.Ref, c.Least, t)})
		}
		return list
	}
	// The two groups were largest in their last comparison.
	var last *match.Join
	c.Trace(func(step match.Join) {
		apart := slices.Contains(step.A, i) && slices.Contains(step.B, j) || slices.Contains(step.A, j) &&
			slices.Contains(step.B, i)
		if apart && !step.Joined {
			last = &step
		}
	})
	if last == nil {
		return nil
	}
	if last.Against != nil {
		code := "not_joined"
		if decisionOn(c, *last.Against) != nil {
			if pair := [2]int{last.Against.A, last.Against.B}; pair == [2]int{i, j} || pair == [2]int{j, i} {
				return nil // already reported
			}
			code = "decided"
		}
		return []Reason{{code, against(c, *last)}}
	}
	text := fmt.Sprintf("the other records of the two entities are evidence against it: %s", against(c, *last))
	for n, e := range worst(c, last) {
		word := "; "
		if n == 0 {
			word = ". Most against: "
		}
		text += fmt.Sprintf("%s%v and %v %v", word, c.Records[e.A].Ref, c.Records[e.B].Ref, e.Weight)
	}
	return []Reason{{"not_joined", text}}
}

// worst returns up to three pairs across two groups with the strongest evidence against joining them.
func worst(c *resolve.Component, j *match.Join) (pairs []match.Edge) {
	for _, e := range c.Edges {
		across := slices.Contains(j.A, e.A) && slices.Contains(j.B, e.B) || slices.Contains(j.A, e.B) &&
			slices.Contains(j.B, e.A)
		if across && e.Weight < 0 {
			pairs = append(pairs, e)
		}
	}
	for _, a := range j.A {
		for _, b := range j.B {
			if !slices.ContainsFunc(c.Edges, func(e match.Edge) bool { return e.A == min(a, b) && e.B == max(a, b) }) {
				if weight, _ := c.Kind.Matcher.Unmet(c.Norms[a], c.Norms[b], true); weight < 0 {
					pairs = append(pairs, match.Edge{A: a, B: b, Weight: weight})
				}
			}
			if len(pairs) > match.MaxComponent {
				break
			}
		}
	}
	slices.SortStableFunc(pairs, func(x, y match.Edge) int { return cmp.Compare(x.Weight, y.Weight) })
	return pairs[:min(len(pairs), 3)]
}

// records returns how many records carry a blocking key, up to resolve.MaxBlockSize+1.
func (h *Handle) blockSize(ctx context.Context, key uint64) (int, error) {
	m := h.engine.Map()
	var all []entity.PUID
	for gen := m.Current(); gen >= m.Floor(); gen-- {
		err := h.engine.View(ctx, m.Key(gen, cell.Position(key)), func(tx storage.Tx) error {
			found, err := tx.RecordsByKey(ctx, []uint64{key}, []int{resolve.MaxBlockSize + 1})
			if err == nil {
				all = append(all, found[0]...)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(all)
	return min(len(slices.Compact(all)), resolve.MaxBlockSize+1), nil
}
