// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// surveyed is the approximate maximum number of records of a survey.
const surveyed = 16384

// survey has the compared pairs of a sample of records, or of all records of a small installation. The sample consists
// of windows of puids at fixed places. As an installation grows, windows are dropped but never move, so that the pairs
// of earlier questions stay in the sample.
type survey struct {
	pairs   []surveyedPair
	records int
	whole   bool // of all records
	// sample are the records of the sample; known also has the records that they have a pair or a decision with.
	sample []*entity.Record
	known  map[entity.PUID]*entity.Record
	said   []entity.Decision
	// entities are the entities of several records whose anchor is in the sample, if requested.
	entities []*entity.Entity
}

// surveyedPair is a compared pair that was not found different. Its first record is in the sample.
type surveyedPair struct {
	derived.Edge
	a, b *entity.Record
	// said is the decision in force about the two records, nil if there is none.
	said *entity.Decision
	// implied reports that a decision of a person separates the entities of the two.
	implied bool
}

func (p *surveyedPair) joined() bool { return p.a.Anchor == p.b.Anchor }

// survey reads pairs of the given kinds, nil for all, and entities if they are wanted.
func (h *Handle) survey(ctx context.Context, kinds []string, entities bool) (*survey, error) {
	windows, whole, err := h.engine.Sample(ctx, surveyed)
	if err != nil {
		return nil, err
	}
	s := &survey{whole: whole}
	records := map[entity.PUID]*entity.Record{}
	var read window
	for _, at := range windows {
		var w window
		if err := h.engine.View(ctx, at.Cell, func(tx storage.Tx) (err error) {
			w, err = readWindow(ctx, tx, at, kinds)
			if err == nil && entities {
				err = w.readEntities(ctx, tx, at, kinds)
			}
			return err
		}); err != nil {
			return nil, fmt.Errorf("compared pairs of cell %v: %w", at.Cell, err)
		}
		for _, rec := range w.records {
			records[rec.PUID] = rec
		}
		s.sample, s.entities = append(s.sample, w.records...), append(s.entities, w.entities...)
		read.edges, read.said = append(read.edges, w.edges...), append(read.said, w.said...)
	}
	s.records, s.known, s.said = len(records), records, read.said
	return s, h.surveyPairs(ctx, s, records, read)
}

// window has the records of one window, their edges to records of higher puids, and the decisions about them.
type window struct {
	records  []*entity.Record
	edges    []derived.Edge
	said     []entity.Decision
	entities []*entity.Entity
}

// readEntities reads the entities whose anchors are in the window.
func (w *window) readEntities(ctx context.Context, tx storage.Tx, at engine.Window, kinds []string) error {
	found, err := at.Entities(ctx, tx)
	for _, e := range found {
		if kinds == nil || slices.Contains(kinds, e.Kind) {
			w.entities = append(w.entities, e)
		}
	}
	return err
}

func readWindow(ctx context.Context, tx storage.Tx, at engine.Window, kinds []string) (w window, err error) {
	found, err := at.Records(ctx, tx)
	if err != nil {
		return w, err
	}
	var puids []entity.PUID
	for _, rec := range found {
		if kinds == nil || slices.Contains(kinds, rec.Kind) {
			w.records, puids = append(w.records, rec), append(puids, rec.PUID)
		}
	}
	edges, err := tx.Edges(ctx, puids)
	if err != nil {
		return w, err
	}
	w.edges = slices.DeleteFunc(edges, func(e derived.Edge) bool { return e.A > e.B })
	w.said, err = tx.Decisions(ctx, puids)
	return w, err
}

// surveyPairs makes pairs of edges, with the decisions about them.
func (h *Handle) surveyPairs(ctx context.Context, s *survey, records map[entity.PUID]*entity.Record,
	read window) error {
	var missing []entity.PUID
	want := func(p entity.PUID) {
		if records[p] == nil {
			missing = append(missing, p)
		}
	}
	for _, e := range read.edges {
		want(e.B)
	}
	for _, d := range read.said {
		if d.Pair() {
			want(d.B)
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	others, err := h.engine.Records(ctx, missing)
	if err != nil {
		return err
	}
	for _, rec := range others {
		if rec != nil && !rec.Deleted() {
			records[rec.PUID] = rec
		}
	}
	decided := map[derived.Pair]*entity.Decision{}
	apart := map[derived.Pair]bool{} // anchors of entities that a decision keeps apart
	for i := range read.said {
		d := &read.said[i]
		if !d.Pair() || d.Withdrawn {
			continue
		}
		decided[derived.PairOf(d.A, d.B)] = d
		if a, b := records[d.A], records[d.B]; d.Verdict == entity.VerdictDifferent && !d.ByAgent() && a != nil && b != nil {
			apart[derived.PairOf(a.Anchor, b.Anchor)] = true
		}
	}
	for _, e := range read.edges {
		p := surveyedPair{Edge: e, a: records[e.A], b: records[e.B], said: decided[derived.PairOf(e.A, e.B)]}
		if p.a == nil || p.b == nil || p.a.Kind != p.b.Kind {
			continue
		}
		if err := h.engine.EnsureKind(ctx, p.a.Kind); err != nil {
			return err
		}
		p.implied = (p.said == nil || p.said.ByAgent()) && !p.joined() && apart[derived.PairOf(p.a.Anchor, p.b.Anchor)]
		s.pairs = append(s.pairs, p)
	}
	return nil
}
