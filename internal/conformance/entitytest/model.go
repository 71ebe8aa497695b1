// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// model is an entity.Store made of a few maps. Values are never changed after insertion, so copying the
// maps copies the store.
type model struct {
	records  map[entity.PUID]entity.Record
	births   map[locality.ID]entity.Birth
	entities map[entity.PUID]entity.Indexed
	decided  map[entity.DecisionKey]entity.Decision
	counts   entity.Counts
}

var _ entity.Store = (*model)(nil)

func newModel() *model {
	return &model{map[entity.PUID]entity.Record{}, map[locality.ID]entity.Birth{}, map[entity.PUID]entity.Indexed{},
		map[entity.DecisionKey]entity.Decision{}, entity.Counts{}}
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.records), maps.Clone(m.births), maps.Clone(m.entities), maps.Clone(m.decided), m.counts}
}

// ask returns a pointer to the value of each key, nil where the map has none.
func ask[K comparable, V any](m map[K]V, keys []K) []*V {
	answers := make([]*V, len(keys))
	for i, k := range keys {
		if v, ok := m[k]; ok {
			answers[i] = &v
		}
	}
	return answers
}

// page returns values in key order.
func page[K cmp.Ordered, V any](m map[K]V, after K, limit int, has func(V) bool) []V {
	var values []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := m[k]; k > after && len(values) < limit && has(v) {
			values = append(values, v)
		}
	}
	return values
}

func (m *model) Records(ctx context.Context, puids []entity.PUID) ([]*entity.Record, error) {
	return ask(m.records, puids), ctx.Err()
}

func (m *model) PutRecords(ctx context.Context, records []*entity.Record) error {
	for _, r := range records {
		m.records[r.PUID] = *r
	}
	return ctx.Err()
}

func (m *model) Assign(ctx context.Context, assignments []entity.Assignment) error {
	for _, a := range assignments {
		if r, ok := m.records[a.PUID]; ok {
			r.Anchor = a.Anchor
			m.records[a.PUID] = r
		}
	}
	return ctx.Err()
}

func (m *model) ListRecords(ctx context.Context, source string, after entity.PUID,
	limit int) ([]*entity.Record, error) {
	var records []*entity.Record
	for _, r := range page(m.records, after, limit, func(r entity.Record) bool {
		return !r.Deleted() && (source == "" || r.Source == source)
	}) {
		records = append(records, &r)
	}
	return records, ctx.Err()
}

func (m *model) CountRecords(ctx context.Context, after entity.PUID,
	limit int) (counts []entity.SourceCount, next entity.PUID, err error) {
	records, err := m.ListRecords(ctx, "", after, limit)
	for _, r := range records {
		i := slices.IndexFunc(counts, func(c entity.SourceCount) bool { return c.Source == r.Source && c.Kind == r.Kind })
		if i < 0 {
			i = len(counts)
			counts = append(counts, entity.SourceCount{Source: r.Source, Kind: r.Kind})
		}
		counts[i].Records++
		if r.Anchor == r.PUID {
			counts[i].Created++
		}
		if r.Observed.After(counts[i].Newest) {
			counts[i].Newest = r.Observed
		}
	}
	if len(records) == limit {
		next = records[limit-1].PUID
	}
	return counts, next, err
}

func (m *model) Births(ctx context.Context, ids []locality.ID) ([]*entity.Birth, error) {
	return ask(m.births, ids), ctx.Err()
}

func (m *model) PutBirths(ctx context.Context, births []entity.Birth) error {
	for _, b := range births {
		m.births[b.ID] = b
	}
	return ctx.Err()
}

func (m *model) ListBirths(ctx context.Context, after locality.ID, limit int) ([]entity.Birth, error) {
	var births []entity.Birth
	for _, id := range slices.SortedFunc(maps.Keys(m.births), locality.ID.Compare) {
		if id.Compare(after) > 0 && len(births) < limit {
			births = append(births, m.births[id])
		}
	}
	return births, ctx.Err()
}

func (m *model) Entities(ctx context.Context, anchors []entity.PUID) ([]*entity.Entity, error) {
	entities := make([]*entity.Entity, len(anchors))
	for i, e := range ask(m.entities, anchors) {
		if e != nil {
			entities[i] = e.Entity
		}
	}
	return entities, ctx.Err()
}

func (m *model) PutEntities(ctx context.Context, entities []entity.Indexed) error {
	for _, e := range entities {
		m.entities[e.Anchor()] = e
	}
	return ctx.Err()
}

func (m *model) DeleteEntities(ctx context.Context, anchors []entity.PUID) error {
	for _, a := range anchors {
		delete(m.entities, a)
	}
	return ctx.Err()
}

func (m *model) ListEntities(ctx context.Context, after entity.PUID, limit int) ([]*entity.Entity, error) {
	return m.Search(ctx, entity.Query{After: after, Limit: limit})
}

func (m *model) Search(ctx context.Context, q entity.Query) ([]*entity.Entity, error) {
	var entities []*entity.Entity
	if !q.Best {
		q.Points = 0
	}
	for points, after := q.Points, q.After; points >= 0; points, after = points-1, math.MinInt64 {
		for _, e := range page(m.entities, after, q.Limit-len(entities), func(e entity.Indexed) bool {
			return matches(e, q) && (!q.Best || e.Rank.Points() == points)
		}) {
			entities = append(entities, e.Entity)
		}
	}
	return entities, ctx.Err()
}

func matches(e entity.Indexed, q entity.Query) bool {
	for _, term := range q.Terms {
		if !slices.Contains(e.Terms, term) {
			return false
		}
	}
	for _, term := range q.Without {
		if slices.Contains(e.Terms, term) {
			return false
		}
	}
	has := func(instead [][]string) bool {
		for i, word := range q.Words {
			if !slices.ContainsFunc(e.Words, func(name string) bool {
				return name == word || word != "" && i == len(q.Words)-1 && strings.HasPrefix(name, word) ||
					i < len(instead) && slices.Contains(instead[i], name)
			}) {
				return false
			}
		}
		return true
	}
	return has(q.Instead) && (q.Except == nil || len(q.Words) == 0 || !has(q.Except))
}

func (m *model) Unfound(ctx context.Context, entities []entity.Indexed) (unfound []entity.PUID, err error) {
	for _, e := range entities {
		stored, ok := m.entities[e.Anchor()]
		lacks := func(word string) bool { return !slices.Contains(stored.Words, word) }
		if !ok || slices.ContainsFunc(e.Words, lacks) || slices.ContainsFunc(e.Terms, func(term uint64) bool { return !slices.Contains(stored.Terms, term) }) {
			unfound = append(unfound, e.Anchor())
		}
	}
	return unfound, ctx.Err()
}

func (m *model) Occurrences(ctx context.Context, after entity.Occurrence,
	limit int) (all []entity.Occurrence, err error) {
	for _, anchor := range slices.Sorted(maps.Keys(m.entities)) {
		words := slices.Clone(m.entities[anchor].Words)
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			first := after == entity.Occurrence{} || anchor > after.Anchor || anchor == after.Anchor && word > after.Word
			if first && len(all) < limit {
				all = append(all, entity.Occurrence{Word: word, Anchor: anchor})
			}
		}
	}
	return all, ctx.Err()
}

func (m *model) Decisions(ctx context.Context, puids []entity.PUID) ([]entity.Decision, error) {
	var decisions []entity.Decision
	for _, k := range slices.SortedFunc(maps.Keys(m.decided), entity.DecisionKey.Compare) {
		if slices.Contains(puids, k.A) {
			decisions = append(decisions, m.decided[k])
		}
	}
	return decisions, ctx.Err()
}

func (m *model) PutDecisions(ctx context.Context, decisions []entity.Decision) error {
	for _, d := range decisions {
		old, there := m.decided[d.Key()]
		if !there || d.At.After(old.At) || d.At.Equal(old.At) && text(d) > text(old) {
			m.decided[d.Key()] = d
		}
	}
	return ctx.Err()
}

func text(d entity.Decision) string {
	b, _ := json.Marshal(&d)
	return string(b)
}

func (m *model) ListDecisions(ctx context.Context, after entity.DecisionKey, limit int) ([]entity.Decision, error) {
	var decisions []entity.Decision
	for _, k := range slices.SortedFunc(maps.Keys(m.decided), entity.DecisionKey.Compare) {
		if k.Compare(after) > 0 && len(decisions) < limit {
			decisions = append(decisions, m.decided[k])
		}
	}
	return decisions, ctx.Err()
}

func (m *model) DeleteDecisions(ctx context.Context, puids []entity.PUID) error {
	maps.DeleteFunc(m.decided, func(k entity.DecisionKey, _ entity.Decision) bool { return slices.Contains(puids, k.A) })
	return ctx.Err()
}

func (m *model) AddCounts(ctx context.Context, delta entity.Counts) error {
	m.counts = m.counts.Add(delta)
	return ctx.Err()
}

func (m *model) Counts(ctx context.Context) (entity.Counts, error) { return m.counts, ctx.Err() }
