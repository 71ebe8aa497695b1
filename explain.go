// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Why explains what holds an entity together: the strongest comparisons that connect its records.
// The same code that decided is asked again, so the explanation is the decision.
func (s *Service) Why(ctx context.Context, id locality.ID) (*Why, error) {
	e, err := s.Entity(ctx, id)
	if err != nil {
		return nil, err
	}
	records, err := s.MemberRecords(ctx, e.Entity)
	if err != nil {
		return nil, err
	}
	why := &Why{Entity: e.Entity, Requested: id, Threshold: s.kind(e.Kind).Matcher.Threshold(), Records: records, Joins: []Join{}}
	norms := make([]*match.Record, len(records))
	for i, rec := range records {
		norms[i] = s.normalise(rec)
	}
	m, err := s.among(ctx, e.Kind, norms...)
	if err != nil {
		return nil, err
	}
	type pair struct {
		a, b   int
		vector match.Vector
		score  match.Score
	}
	var pairs []pair
	leads := match.Leaders(norms)
	for b := range norms {
		for a := range b {
			if a != leads[b] && (a != leads[a] || b != leads[b]) {
				continue // what says the same is said once
			}
			v := m.Compare(norms[a], norms[b])
			pairs = append(pairs, pair{a, b, v, m.Score(v)})
		}
	}
	decisions, err := s.decisionsOf(ctx, members(e.Entity))
	if err != nil {
		return nil, err
	}
	// What people said to be one thing comes first, as it does when records are clustered.
	said := func(p pair) *entity.Decision {
		d := decidedBetween(decisions, []entity.PUID{records[p.a].PUID}, []entity.PUID{records[p.b].PUID})
		if d == nil || d.Verdict != entity.VerdictSame {
			return nil
		}
		return d
	}
	if len(decisions) > 0 {
		for i := range pairs {
			if said(pairs[i]) != nil {
				pairs[i].score = match.MustLink
			}
		}
	}
	slices.SortStableFunc(pairs, func(x, y pair) int { return cmp.Compare(y.score, x.score) })
	part := make([]int, len(records))
	for i := range part {
		part[i] = i
	}
	for _, p := range pairs {
		from, to := part[p.b], part[p.a]
		if from == to {
			continue
		}
		for i := range part {
			if part[i] == from {
				part[i] = to
			}
		}
		e := m.Explain(norms[p.a], norms[p.b], p.vector)
		why.Joins = append(why.Joins, Join{entity.Ref(e.A), entity.Ref(e.B), e, said(p)})
	}
	return why, nil
}

// facing turns an explanation, which has an order of its own, so that the values of a record come first.
func facing(first entity.Ref, e match.Explanation) match.Explanation {
	if e.A == match.NodeKey(first) {
		return e
	}
	e.A, e.B = e.B, e.A
	for i := range e.Lines {
		e.Lines[i].A, e.Lines[i].B = e.Lines[i].B, e.Lines[i].A
	}
	return e
}

// among is the matcher of a kind that weighs what these records share by the names that it has among all that are there.
func (s *Service) among(ctx context.Context, kind string, records ...*match.Record) (*match.Matcher, error) {
	var names match.Names
	err := s.again(ctx, func() (err error) {
		names, err = s.resolver.Names(ctx, records)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the names of what the records share: %w", err)
	}
	return s.kind(kind).Matcher.Among(names), nil
}

func (s *Service) normalise(rec *entity.Record) *match.Record {
	return s.kind(rec.Kind).Matcher.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
}

// pointAt makes what is wrong with an address wrong with the field that it stood in.
func pointAt(pointer string, err error) error {
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		for i := range invalid.Problems {
			invalid.Problems[i].Pointer = pointer
		}
	}
	return err
}

// Route explains where an address - an entity id, a puid or SOURCE:KEY - lives, and whether
// anything is there. The error is an *InvalidError if it is none of these.
func (s *Service) Route(ctx context.Context, address string) (*Route, error) {
	route := &Route{Address: address}
	if id, err := locality.Parse(address); err == nil {
		if err := checkID("/address", id); err != nil {
			return nil, err
		}
		if _, err := located(ctx, s, id, (*cell.Map).Entity); err != nil {
			return nil, fmt.Errorf("route %s: %w", address, err)
		}
		r, err := cell.NewRouter(s.Map()).ExplainEntity(id)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", address, err)
		}
		route.ID = &r
		e, err := s.Entity(ctx, id)
		if err == nil {
			route.found(e.Anchor(), e.ID)
		}
		return route, absent(err)
	}
	if puid, err := entity.ParsePUID(address); err == nil {
		r, err := cell.NewRouter(s.Map()).ExplainPuid(int64(puid))
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", address, err)
		}
		route.PUID = &r
		return route, s.routeRecord(ctx, route, address)
	}
	ref, err := ParseRef(address)
	if err != nil {
		return nil, err
	}
	route.Key = s.walk(ctx, ref)
	return route, s.routeRecord(ctx, route, address)
}

// walk follows an external key from cell to cell, as a look-up does, and notes what each of them says.
func (s *Service) walk(ctx context.Context, ref entity.Ref) *cell.KeyRoute {
	m, begin := s.Map(), time.Now()
	route := cell.NewRouter(m).ExplainKey(ref.Source, ref.Key)
	key := m.KeyOf(ref.Source, ref.Key)
	for _, p := range route.Probes {
		gen := int(p.Cell.Gen)
		if s.cells.Lacks(p.Cell, key) {
			route.Saw(gen, cell.Sealed, cell.AnswerFilterNo)
			continue
		}
		var head cell.Head
		answer := cell.AnswerNo
		err := s.view(ctx, p.Cell, func(tx resolve.Tx) (err error) {
			if head, err = tx.Head(ctx); err != nil {
				return err
			}
			rows, err := tx.Lookup(ctx, []cell.Key{key})
			if err == nil && rows[0] != cell.Nothing {
				answer = cell.AnswerFound
			}
			return err
		})
		if err != nil {
			answer = cell.AnswerUnavailable
		}
		if route.Saw(gen, head.Keys, answer); answer == cell.AnswerFound {
			break
		}
	}
	route.TookMS = float64(time.Since(begin).Microseconds()) / 1000
	return &route
}

func (s *Service) routeRecord(ctx context.Context, route *Route, address string) error {
	rec, err := s.recordAt(ctx, address)
	if err != nil {
		return absent(err)
	}
	of, err := s.withEntities(ctx, []*entity.Record{rec})
	if err != nil {
		return err
	}
	route.found(rec.PUID, of[0].Entity)
	return nil
}

func (r *Route) found(record entity.PUID, id locality.ID) {
	r.Found, r.Record, r.Entity = true, &record, &id
}
