// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// How tells how an entity came to be. Its records are clustered again by the code that did it, from what is
// stored, so the steps are those that were.
func (s *Service) How(ctx context.Context, id locality.ID) (*How, error) {
	begin := time.Now()
	e, err := s.Entity(ctx, id)
	if err != nil {
		return nil, err
	}
	var c *resolve.Component
	if err := s.again(ctx, func() (err error) {
		c, err = s.resolver.Component(ctx, e.Anchor())
		return err
	}); err != nil {
		return nil, fmt.Errorf("entity %v: %w", id, err)
	}
	if c == nil {
		return nil, fmt.Errorf("%w: entity %v is changing, try again", ErrUnavailable, id)
	}
	h := &How{
		Entity: e.Entity, Requested: id, Threshold: c.Kind.Matcher.Threshold(), Component: len(c.Records), Cut: c.Least,
		Steps: steps(c, e.Anchor()),
	}
	h.Events, h.Since, err = s.events(ctx, c.Records, members(e.Entity), eventsOfHow)
	h.Took = time.Since(begin)
	return h, err
}

func members(e *entity.Entity) []entity.PUID {
	puids := make([]entity.PUID, len(e.Members))
	for i, m := range e.Members {
		puids[i] = m.PUID
	}
	return puids
}

// steps are those that made the entity of a record, and of those that would have taken in others the last
// one with each.
func steps(c *resolve.Component, anchor entity.PUID) []HowStep {
	var joins []match.Join
	groups := c.Trace(func(j match.Join) { joins = append(joins, j) })
	of := make([]int, len(c.Records))
	own := -1
	for g, group := range groups {
		for _, i := range group {
			if of[i] = g; c.Records[i].PUID == anchor {
				own = g
			}
		}
	}
	last := map[int]int{} // group that was refused → its last step
	for i, j := range joins {
		a, b := of[j.Edge.A], of[j.Edge.B]
		if !j.Joined && (a == own || b == own) {
			last[a+b-own] = i
		}
	}
	list := []HowStep{}
	for i, j := range joins {
		a, b := of[j.Edge.A], of[j.Edge.B]
		if a != own && b != own {
			continue
		}
		if at, refused := last[a+b-own]; !j.Joined && (!refused || at != i) {
			continue
		}
		list = append(list, step(c, j))
	}
	return list
}

func step(c *resolve.Component, j match.Join) HowStep {
	refs := func(indices []int) []entity.Ref {
		list := make([]entity.Ref, len(indices))
		for i, n := range indices {
			list[i] = c.Records[n].Ref
		}
		return list
	}
	st := HowStep{
		A: refs(j.A), B: refs(j.B), Pair: pairOf(c, j.Edge.A, j.Edge.B), Sum: match.Sum(j.Sum), Absent: j.Absent, Joined: j.Joined,
	}
	if j.Edge.Decided != 0 {
		st.Decided = decisionOn(c, j.Edge)
	}
	if !j.Joined {
		if j.Against != nil && st.Decided == nil {
			st.Decided = decisionOn(c, *j.Against)
		}
		st.Against = against(c, j)
	}
	return st
}

// pairOf compares two records of a component, of which the first is the first by source and key.
func pairOf(c *resolve.Component, a, b int) Join {
	e := c.Matcher.Explain(c.Norms[a], c.Norms[b], c.Matcher.Compare(c.Norms[a], c.Norms[b]))
	return Join{entity.Ref(e.A), entity.Ref(e.B), e, nil}
}

// decisionOn is what somebody decided about a pair, nil if nobody did.
func decisionOn(c *resolve.Component, e match.Edge) *entity.Decision {
	return decidedBetween(c.Decisions, []entity.PUID{c.Records[e.A].PUID}, []entity.PUID{c.Records[e.B].PUID})
}

func said(d *entity.Decision) string {
	if d.Author == "" {
		return "somebody said"
	}
	return d.Author + " said"
}

func because(d *entity.Decision) string {
	if d.Reason == "" {
		return ""
	}
	return ": " + d.Reason
}

// against says why two groups did not become one.
func against(c *resolve.Component, j match.Join) string {
	if j.Against == nil {
		return fmt.Sprintf("the %d pairs across the two have %v bits together, and %d of them were not candidates", j.Pairs, match.Sum(j.Sum), j.Absent)
	}
	pair := pairOf(c, j.Against.A, j.Against.B)
	if d := decisionOn(c, *j.Against); d != nil {
		return fmt.Sprintf("%s that %v and %v are two things%s", said(d), pair.A, pair.B, because(d))
	}
	worst := match.Line{}
	for _, line := range pair.Explanation.Lines {
		if line.Bits < worst.Bits {
			worst = line
		}
	}
	return fmt.Sprintf("%v and %v cannot be one thing: %s %s, %v bits", pair.A, pair.B, worst.Attribute, worst.Level, worst.Bits)
}

// Of each cell so many changes are looked through, the latest ones, since the logs know of no entity; and so
// many are answered.
const (
	eventsOfHow     = 100
	eventsOfHistory = 20_000
	maxEvents       = 1000
)

// History is what the logs still hold of an entity.
func (s *Service) History(ctx context.Context, id locality.ID) (*History, error) {
	e, err := s.Entity(ctx, id)
	if err != nil {
		return nil, err
	}
	records, err := s.MemberRecords(ctx, e.Entity)
	if err != nil {
		return nil, err
	}
	h := &History{Entity: e.Entity}
	h.Events, h.Since, err = s.events(ctx, records, members(e.Entity), eventsOfHistory)
	return h, err
}

// events reads the changes of some of the records and of the entities that are named after them.
func (s *Service) events(ctx context.Context, records []*entity.Record, members []entity.PUID, most int) (events []CellChange, since time.Time, err error) {
	about := map[locality.ID]bool{}
	var cells []cell.ID
	for _, rec := range records {
		if !slices.Contains(members, rec.PUID) {
			continue
		}
		home, err := located(ctx, s, int64(rec.PUID), (*cell.Map).Puid)
		if err != nil {
			return nil, since, fmt.Errorf("record %v: %w", rec.PUID, err)
		}
		about[rec.Birth] = true
		cells = append(cells, home)
	}
	slices.SortFunc(cells, cell.ID.Compare)
	cells = slices.Compact(cells)
	found, froms, errs := make([][]CellChange, len(cells)), make([]time.Time, len(cells)), make([]error, len(cells))
	abreast(len(cells), func(i int) {
		errs[i] = s.view(ctx, cells[i], func(tx resolve.Tx) (err error) {
			found[i], froms[i], err = eventsIn(ctx, tx, cells[i], about, most)
			return err
		})
	})
	if err := errors.Join(errs...); err != nil {
		return nil, since, fmt.Errorf("read the logs: %w", err)
	}
	events = slices.Concat(found...)
	for _, from := range froms {
		if from.After(since) {
			since = from
		}
	}
	slices.SortStableFunc(events, func(a, b CellChange) int { return a.Time.Compare(b.Time) })
	if n := len(events) - maxEvents; n > 0 {
		events, since = events[n:], events[n].Time
	}
	if events == nil {
		events = []CellChange{}
	}
	return events, since, nil
}

// eventsIn looks through the end of a log; from is the time from which on that is all.
func eventsIn(ctx context.Context, tx resolve.Tx, id cell.ID, about map[locality.ID]bool, most int) (events []CellChange, from time.Time, err error) {
	bounds, err := tx.Bounds(ctx)
	if err != nil {
		return nil, from, err
	}
	at := max(bounds.Trimmed, bounds.Last-min(bounds.Last, changelog.Seq(most)))
	begin := at
	for at < bounds.Last {
		page, err := tx.Changes(ctx, at, min(most, 1000))
		if err != nil || len(page) == 0 {
			return events, from, err
		}
		if begin > 0 && from.IsZero() {
			from = page[0].Time
		}
		for _, c := range page {
			if about[c.Entity] {
				c.Was, c.Is = nil, nil
				events = append(events, CellChange{Cell: id, Change: c})
			}
		}
		at = page[len(page)-1].Seq
	}
	return events, from, nil
}

// again does something with cells, and again with a newer cell map where one has moved.
func (s *Service) again(ctx context.Context, do func() error) error {
	for attempt := 0; ; attempt++ {
		err := do()
		if stale := errors.Is(err, cell.ErrMoved) || errors.Is(err, cell.ErrStaleMap); !stale || attempt == maxRefresh {
			return err
		}
		if err := s.cells.Refresh(ctx); err != nil {
			return fmt.Errorf("%w: a cell has moved: %w", ErrUnavailable, err)
		}
	}
}
