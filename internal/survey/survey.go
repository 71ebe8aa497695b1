// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// mostRecords is the approximate maximum number of records of a survey.
const mostRecords = 16384

// Survey has the compared pairs of a sample of records, or of all records of a small installation. The sample consists
// of windows of puids at fixed places. As an installation grows, windows are dropped but never move, so that the pairs
// of earlier questions stay in the sample.
type Survey struct {
	Pairs []Pair
	// Records is how many records were looked at; Whole reports that there are no others.
	Records int
	Whole   bool
	// Sample are the records of the sample; Known also has the records that they have a pair or a decision with.
	Sample []*entity.Record
	Known  map[entity.PUID]*entity.Record
	// Decisions are those about records of the sample, also withdrawn ones.
	Decisions []entity.Decision
	// Entities are the entities of several records whose anchor is in the sample, if requested.
	Entities []*entity.Entity
}

// Pair is a compared pair that was not found different. Its first record is in the sample.
type Pair struct {
	derived.Edge
	RecordA, RecordB *entity.Record
	// Decision is the one in force about the two records, nil if there is none.
	Decision *entity.Decision
	// implied reports that a decision of a person separates the entities of the two.
	implied bool
}

// Kind returns the kind of the two records.
func (p *Pair) Kind() string { return p.RecordA.Kind }

// Joined reports whether the two are in one entity.
func (p *Pair) Joined() bool { return p.RecordA.Anchor == p.RecordB.Anchor }

// Verdict returns whether the two are the same thing, and whether a person decided that.
func (p *Pair) Verdict() (same, decided bool) {
	if p.byPerson() {
		return p.Decision.Verdict == entity.VerdictSame, true
	}
	return false, p.implied
}

// byPerson reports whether a person decided about the two records.
func (p *Pair) byPerson() bool { return p.Decision != nil && !p.Decision.ByAgent() }

// ByKind returns the pairs of each kind.
func (s *Survey) ByKind() map[string][]Pair {
	of := map[string][]Pair{}
	for _, p := range s.Pairs {
		of[p.Kind()] = append(of[p.Kind()], p)
	}
	return of
}

// Take reads the pairs of the given kinds, nil for all, and entities if they are wanted.
func Take(ctx context.Context, e *engine.Engine, kinds []string, entities bool) (*Survey, error) {
	windows, whole, err := e.Sample(ctx, mostRecords)
	if err != nil {
		return nil, err
	}
	s := &Survey{Whole: whole}
	records := map[entity.PUID]*entity.Record{}
	var read window
	for _, at := range windows {
		var w window
		if err := e.View(ctx, at.Cell, func(tx storage.Tx) (err error) {
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
		s.Sample, s.Entities = append(s.Sample, w.records...), append(s.Entities, w.entities...)
		read.edges, read.decisions = append(read.edges, w.edges...), append(read.decisions, w.decisions...)
	}
	s.Records, s.Known, s.Decisions = len(records), records, read.decisions
	return s, s.compose(ctx, e, read.edges)
}

// window has the records of one window, their edges to records of higher puids, and the decisions about them.
type window struct {
	records   []*entity.Record
	edges     []derived.Edge
	decisions []entity.Decision
	entities  []*entity.Entity
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
	w.decisions, err = tx.Decisions(ctx, puids)
	return w, err
}

// compose makes pairs of edges, with the decisions about them. It reads the records that the sample lacks.
func (s *Survey) compose(ctx context.Context, e *engine.Engine, edges []derived.Edge) error {
	var missing []entity.PUID
	want := func(p entity.PUID) {
		if s.Known[p] == nil {
			missing = append(missing, p)
		}
	}
	for _, edge := range edges {
		want(edge.B)
	}
	for _, d := range s.Decisions {
		if d.Pair() {
			want(d.B)
		}
	}
	slices.Sort(missing)
	others, err := e.Records(ctx, slices.Compact(missing))
	if err != nil {
		return err
	}
	for _, rec := range others {
		if rec != nil && !rec.Deleted() {
			s.Known[rec.PUID] = rec
		}
	}
	decided := map[derived.Pair]*entity.Decision{}
	apart := map[derived.Pair]bool{} // anchors of entities that a decision keeps apart
	for i := range s.Decisions {
		d := &s.Decisions[i]
		if !d.Pair() || d.Withdrawn {
			continue
		}
		decided[derived.PairOf(d.A, d.B)] = d
		if a, b := s.Known[d.A], s.Known[d.B]; d.Verdict == entity.VerdictDifferent && !d.ByAgent() && a != nil && b != nil {
			apart[derived.PairOf(a.Anchor, b.Anchor)] = true
		}
	}
	for _, edge := range edges {
		p := Pair{Edge: edge, RecordA: s.Known[edge.A], RecordB: s.Known[edge.B],
			Decision: decided[derived.PairOf(edge.A, edge.B)]}
		if p.RecordA == nil || p.RecordB == nil || p.RecordA.Kind != p.RecordB.Kind {
			continue
		}
		if err := e.EnsureKind(ctx, p.Kind()); err != nil {
			return err
		}
		p.implied = !p.byPerson() && !p.Joined() && apart[derived.PairOf(p.RecordA.Anchor, p.RecordB.Anchor)]
		s.Pairs = append(s.Pairs, p)
	}
	return nil
}
