// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
)

// call is one call of a Store. It is drawn before it runs, because a backend may retry a transaction and
// the model must make the same call.
type call struct {
	name string
	do   func(ctx context.Context, s entity.Store) (any, error)
}

// histories numbers the histories that share a cell, so that each has its own puids.
var histories atomic.Int64

// drawer draws calls about a few puids, so that calls interact.
type drawer struct{ base entity.PUID }

func (d drawer) puid() *rapid.Generator[entity.PUID] {
	return rapid.Map(rapid.Int64Range(1, 12), func(n int64) entity.PUID { return d.base + entity.PUID(n) })
}

func (d drawer) id() *rapid.Generator[locality.ID] {
	return rapid.Map(d.puid(), func(p entity.PUID) locality.ID { return birthID(int64(p)) })
}

var (
	drawWord = rapid.SampledFrom([]string{
		"joes", "joe", "pizza", "piz", "café", "cafe\u0301", "寿司", "寿", "a", "1",
	})
	drawTerm   = rapid.SampledFrom([]uint64{0, 1, 1 << 63, math.MaxUint64})
	drawPoints = rapid.IntRange(0, 2)
	drawSource = rapid.SampledFrom([]string{"osm", "OSM", "vendor"})

	drawVerdict = rapid.SampledFrom([]entity.Verdict{entity.VerdictSame, entity.VerdictDifferent, entity.VerdictAnchor,
		entity.VerdictValue})
)

func init() {
	conformance.Share(drawWord, drawTerm, drawSource, drawVerdict)
	conformance.Share(drawPoints)
}

// term is the term that only the entities of this history have.
func (d drawer) term() uint64 { return uint64(d.base) }

func (d drawer) record() *rapid.Generator[*entity.Record] {
	return rapid.Custom(func(t *rapid.T) *entity.Record {
		r := &entity.Record{
			PUID:    d.puid().Draw(t, "puid"),
			Ref:     entity.Ref{Source: drawSource.Draw(t, "source"), Key: rapid.SampledFrom(hostile).Draw(t, "key")},
			Version: rapid.Int64Range(1, 5).Draw(t, "version"), Birth: d.id().Draw(t, "birth"),
			Anchor:   d.puid().Draw(t, "anchor"),
			Observed: time.UnixMilli(rapid.Int64Range(-1e12, 4e12).Draw(t, "observed")).UTC(),
		}
		if rapid.IntRange(0, 3).Draw(t, "live") > 0 {
			r.Attributes = rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`),
				rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()), 1, 3), 0, 3).Draw(t, "attributes")
		}
		return r
	})
}

func (d drawer) entity() *rapid.Generator[entity.Indexed] {
	return rapid.Custom(func(t *rapid.T) entity.Indexed {
		e := thing(rapid.SliceOfN(d.puid(), 1, 4).Draw(t, "members")...)
		e.Stamp = drawTerm.Draw(t, "stamp")
		e.Rank = entity.Rank{Sources: drawPoints.Draw(t, "sources"), Known: drawPoints.Draw(t, "known")}
		return entity.Indexed{
			Entity: e, Words: rapid.SliceOfN(drawWord, 0, 4).Draw(t, "words"),
			Terms: append(rapid.SliceOfN(drawTerm, 0, 3).Draw(t, "terms"), d.term()),
		}
	})
}

func (d drawer) decision() *rapid.Generator[entity.Decision] {
	return rapid.Custom(func(t *rapid.T) entity.Decision {
		made := entity.Decision{
			Verdict: drawVerdict.Draw(t, "verdict"), A: d.puid().Draw(t, "a"), Author: drawSource.Draw(t, "author"),
			Reason: rapid.SampledFrom(hostile).Draw(t, "reason"),
			At:     time.UnixMilli(rapid.Int64Range(0, 3).Draw(t, "at")).UTC(), Withdrawn: rapid.Bool().Draw(t, "withdrawn"),
		}
		switch made.Verdict {
		case entity.VerdictValue:
			made.Attribute, made.Value = drawSource.Draw(t, "attribute"), rapid.SampledFrom(hostile).Draw(t, "value")
		case entity.VerdictSame, entity.VerdictDifferent:
			made.B = d.puid().Draw(t, "b")
		}
		return made
	})
}

func (d drawer) query() *rapid.Generator[entity.Query] {
	return rapid.Custom(func(t *rapid.T) entity.Query {
		q := entity.Query{
			Words: rapid.SliceOfN(drawWord, 0, 2).Draw(t, "words"), Terms: rapid.SliceOfN(drawTerm, 0, 2).Draw(t, "terms"),
			Without: rapid.SliceOfN(drawTerm, 0, 1).Draw(t, "without"),
			Instead: rapid.SliceOfN(rapid.SliceOfN(drawWord, 0, 2), 0, 2).Draw(t, "instead"),
			After:   d.after().Draw(t, "after"), Limit: rapid.IntRange(1, 15).Draw(t, "limit"),
		}
		if len(q.Instead) > len(q.Words) {
			q.Instead = q.Instead[:len(q.Words)]
		}
		if rapid.Bool().Draw(t, "except") {
			q.Except = make([][]string, len(q.Instead))
			for i, words := range q.Instead {
				q.Except[i] = words[:len(words)/2]
			}
		}
		if q.Best = rapid.Bool().Draw(t, "best"); q.Best {
			q.Points = drawPoints.Draw(t, "points") + drawPoints.Draw(t, "points")
			q.Terms = append(q.Terms, d.term())
		}
		return q
	})
}

// after draws a puid that does not precede this history's own.
func (d drawer) after() *rapid.Generator[entity.PUID] {
	return rapid.Map(rapid.Int64Range(0, 12), func(n int64) entity.PUID { return d.base + entity.PUID(n) })
}

func batch[T any](t *rapid.T, g *rapid.Generator[T]) []T {
	return rapid.SliceOfN(g, 0, 8).Draw(t, "batch")
}

func write(name string, do func(ctx context.Context, s entity.Store) error) call {
	return call{name, func(ctx context.Context, s entity.Store) (any, error) { return nil, do(ctx, s) }}
}

func ask1[T any](name string, do func(ctx context.Context, s entity.Store) (T, error)) call {
	return call{name, func(ctx context.Context, s entity.Store) (any, error) { return do(ctx, s) }}
}

func (d drawer) call() *rapid.Generator[call] {
	return rapid.Custom(func(t *rapid.T) call {
		switch rapid.IntRange(0, 18).Draw(t, "call") {
		case 0, 1:
			records := batch(t, d.record())
			return write("PutRecords", func(ctx context.Context, s entity.Store) error { return s.PutRecords(ctx, records) })
		case 2:
			var assignments []entity.Assignment
			for p, a := range rapid.MapOfN(d.puid(), d.puid(), 0, 8).Draw(t, "assignments") {
				assignments = append(assignments, entity.Assignment{PUID: p, Anchor: a})
			}
			return write("Assign", func(ctx context.Context, s entity.Store) error { return s.Assign(ctx, assignments) })
		case 3:
			births := batch(t, rapid.Custom(func(t *rapid.T) entity.Birth {
				return entity.Birth{ID: d.id().Draw(t, "id"), PUID: d.puid().Draw(t, "puid"),
					Successor: rapid.OneOf(rapid.Just(locality.ID{}), d.id()).Draw(t, "successor")}
			}))
			return write("PutBirths", func(ctx context.Context, s entity.Store) error { return s.PutBirths(ctx, births) })
		case 4, 5:
			entities := batch(t, d.entity())
			return write("PutEntities", func(ctx context.Context, s entity.Store) error { return s.PutEntities(ctx, entities) })
		case 6:
			anchors := batch(t, d.puid())
			return write("DeleteEntities", func(ctx context.Context, s entity.Store) error {
				return s.DeleteEntities(ctx, anchors)
			})
		case 7:
			puids := batch(t, d.puid())
			return ask1("Records", func(ctx context.Context, s entity.Store) ([]*entity.Record, error) {
				return s.Records(ctx, puids)
			})
		case 8:
			ids := batch(t, d.id())
			return ask1("Births", func(ctx context.Context, s entity.Store) ([]*entity.Birth, error) {
				return s.Births(ctx, ids)
			})
		case 9:
			anchors := batch(t, d.puid())
			return ask1("Entities", func(ctx context.Context, s entity.Store) ([]*entity.Entity, error) {
				return s.Entities(ctx, anchors)
			})
		case 10:
			source, after := rapid.SampledFrom([]string{"", "osm", "OSM", "x"}).Draw(t, "source"), d.after().Draw(t, "after")
			limit := rapid.IntRange(1, 15).Draw(t, "limit")
			return ask1("ListRecords", func(ctx context.Context, s entity.Store) ([]*entity.Record, error) {
				return s.ListRecords(ctx, source, after, limit)
			})
		case 17:
			after, limit := d.after().Draw(t, "after"), rapid.IntRange(1, 15).Draw(t, "limit")
			return ask1("CountRecords", func(ctx context.Context, s entity.Store) (counted, error) {
				return countOf(ctx, s, after, limit)
			})
		case 11:
			delta := entity.Counts{Records: rapid.Int64Range(-9, 9).Draw(t, "records"),
				Merges: rapid.Int64Range(0, 9).Draw(t, "merges")}
			return ask1("AddCounts, Counts", func(ctx context.Context, s entity.Store) (entity.Counts, error) {
				if err := s.AddCounts(ctx, delta); err != nil {
					return entity.Counts{}, err
				}
				return s.Counts(ctx)
			})
		case 12, 13:
			decisions := batch(t, d.decision())
			return write("PutDecisions", func(ctx context.Context, s entity.Store) error {
				return s.PutDecisions(ctx, decisions)
			})
		case 14:
			puids := batch(t, d.puid())
			return write("DeleteDecisions", func(ctx context.Context, s entity.Store) error {
				return s.DeleteDecisions(ctx, puids)
			})
		case 15:
			puids := batch(t, d.puid())
			return ask1("Decisions", func(ctx context.Context, s entity.Store) ([]entity.Decision, error) {
				return s.Decisions(ctx, puids)
			})
		default:
			query := d.query().Draw(t, "query")
			return ask1("Search", func(ctx context.Context, s entity.Store) ([]*entity.Entity, error) {
				return s.Search(ctx, query)
			})
		}
	})
}

// compare makes the calls on both stores, then reads and compares everything.
func (d drawer) compare(ctx context.Context, s entity.Store, m *model, calls []call) error {
	calls = append(calls, ask1("Search for all", func(ctx context.Context, s entity.Store) ([]*entity.Entity, error) {
		return s.Search(ctx, entity.Query{After: d.base, Limit: 100})
	}), ask1("ListRecords of all", func(ctx context.Context, s entity.Store) ([]*entity.Record, error) {
		return s.ListRecords(ctx, "", d.base, 100)
	}), ask1("ListDecisions of all", func(ctx context.Context, s entity.Store) ([]entity.Decision, error) {
		return s.ListDecisions(ctx, entity.DecisionKey{A: d.base}, 200)
	}))
	for i, c := range calls {
		got, err := c.do(ctx, s)
		if err != nil {
			return fmt.Errorf("call %d, %s: %w", i, c.name, err)
		}
		want, _ := c.do(ctx, m)
		if diff := equal(got, want); diff != "" {
			return fmt.Errorf("call %d, %s (-want +got):\n%s", i, c.name, diff)
		}
	}
	return nil
}

// agreesWithModel draws transactions, some of which roll back, and compares every result with the model's.
func agreesWithModel(t tester, c Cell) {
	rapid.Check(t, func(t *rapid.T) {
		// Histories use ascending ranges, so rows of an earlier history precede those of the next.
		d := drawer{base: math.MinInt64/2 + entity.PUID(histories.Add(1)<<32)}
		committed := newModel()
		committed.counts = getCounts(t, c)
		for range rapid.IntRange(1, 4).Draw(t, "transactions") {
			calls := rapid.SliceOfN(d.call(), 1, 6).Draw(t, "calls")
			rollback, m := rapid.Bool().Draw(t, "rollback"), committed
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, s entity.Store) error {
				m = committed.clone()
				return d.compare(ctx, s, m, calls)
			})
			if !rollback {
				committed = m
			}
		}
		conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
			return d.compare(ctx, s, committed, nil)
		})
	})
}
