// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Diff compares the entities of a kind under current and proposed rules. An entity stays if its set of records is the
// same. Otherwise it merges, splits, or both: its records come from several entities, or go to several.
type Diff struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`          // of the proposed schema
	Terms   string `json:"term_frequencies"` // hash of the proposed term frequencies
	Records int    `json:"records"`
	Before  int    `json:"before"`  // current entities
	After   int    `json:"after"`   // proposed entities
	Stay    int    `json:"stay"`    // proposed entities with the same records
	Changed int    `json:"changed"` // entities among Stay that show other values
	Merged  int    `json:"merged"`  // proposed entities with records from several current ones
	Split   int    `json:"split"`   // current entities whose records go to several
	// Merges and Splits are the largest examples, at most 20 of each.
	Merges []Example `json:"merges"`
	Splits []Example `json:"splits"`
}

// Example shows entities that merge into one, or one that splits.
type Example struct {
	From    []locality.ID `json:"from"`
	To      []locality.ID `json:"to"`
	Size    int           `json:"size"`    // number of records
	Records []Member      `json:"records"` // the first records
}

// Member is a record that moves to another entity.
type Member struct {
	entity.Ref
	Name string      `json:"name,omitempty"`
	From locality.ID `json:"from"`
	To   locality.ID `json:"to"`
}

const (
	// diffExamples is the maximum number of examples of merges and of splits, and of records in each.
	diffExamples = 20
	// maxDiff is the maximum number of records to compare. Each takes about 5 kB of memory during the comparison.
	maxDiff = 500_000
)

// Compare returns the effect of resolving a kind by other rules. It reads all live records of the kind into memory and
// resolves them there; nothing is written. Records put during the comparison may or may not be included.
func (h *Handle) Compare(ctx context.Context, p Proposal, progress func(Progress)) (*Diff, error) {
	schema, terms, err := h.proposed(ctx, p)
	if err != nil {
		return nil, err
	}
	m := match.New(schema, terms)
	d := &differ{engine: h.engine, matcher: m, of: map[entity.PUID]*entity.Record{},
		decided: map[entity.PUID][]entity.Decision{}}
	d.diff = &Diff{Kind: schema.Kind, Version: schema.Version, Terms: resolve.HashText(terms.Hash()), Merges: []Example{},
		Splits: []Example{}}
	counting := h.progress(ctx, "reading", progress)
	if err := h.eachRecord(ctx, schema.Kind, func(rec *entity.Record) error {
		if counting.add(1); counting.Records > maxDiff {
			return fmt.Errorf("%w: kind %s has more than %d; try it with a part of them in a separate installation", ErrTooMany,
				schema.Kind, maxDiff)
		}
		d.records = append(d.records, rec)
		d.of[rec.PUID] = rec
		return nil
	}); err != nil {
		return nil, engine.Wrap(err)
	}
	if err := d.readDecisions(ctx); err != nil {
		return nil, engine.Wrap(err)
	}
	counting.Step, counting.Of = "resolving", len(d.records)
	counting.add(0)
	d.groups = resolve.Batch(m, d.records, d.decisions...)
	if err := ctx.Err(); err != nil {
		return nil, engine.Wrap(err)
	}
	counting.Step, counting.told = "comparing", counting.begun
	counting.add(0)
	d.compare()
	if err := d.views(ctx); err != nil {
		return nil, engine.Wrap(err)
	}
	return d.diff, nil
}

// differ compares current entities with proposed ones.
type differ struct {
	engine    *engine.Engine
	matcher   *match.Matcher
	records   []*entity.Record
	of        map[entity.PUID]*entity.Record
	decisions []entity.Decision
	decided   map[entity.PUID][]entity.Decision
	groups    [][]*entity.Record // proposed
	diff      *Diff
	stay      map[entity.PUID][]*entity.Record // by current anchor
}

func (d *differ) readDecisions(ctx context.Context) error {
	read := func(tx storage.Tx, after entity.DecisionKey, limit int) ([]entity.Decision, error) {
		return tx.ListDecisions(ctx, after, limit)
	}
	key := func(of entity.Decision) entity.DecisionKey { return of.Key() }
	return engine.Each(ctx, d.engine, entity.DecisionKey{A: engine.FirstPUID}, read, key, func(of entity.Decision) error {
		d.decisions = append(d.decisions, of)
		d.decided[of.A] = append(d.decided[of.A], of)
		return nil
	})
}

// id returns the id of the entity with that anchor: the birth id of the anchor record.
func (d *differ) id(anchor entity.PUID) locality.ID {
	if rec := d.of[anchor]; rec != nil {
		return rec.Birth
	}
	return locality.ID{}
}

// compare counts merges and splits.
func (d *differ) compare() {
	size := map[entity.PUID]int{} // of current entities
	for _, rec := range d.records {
		size[rec.Anchor]++
	}
	to := map[entity.PUID]map[entity.PUID]bool{} // proposed anchors by current anchor
	members := map[entity.PUID][]*entity.Record{}
	d.stay = map[entity.PUID][]*entity.Record{}
	then := map[entity.PUID]entity.PUID{}
	for _, group := range d.groups {
		from := map[entity.PUID]bool{}
		for _, rec := range group {
			from[rec.Anchor] = true
			then[rec.PUID] = group[0].PUID
			if to[rec.Anchor] == nil {
				to[rec.Anchor] = map[entity.PUID]bool{}
			}
			to[rec.Anchor][group[0].PUID] = true
		}
		switch anchor := group[0].Anchor; {
		case len(from) > 1:
			d.diff.Merged++
			d.diff.Merges = append(d.diff.Merges,
				Example{From: d.ids(from), To: []locality.ID{group[0].Birth}, Size: len(group), Records: d.examples(group, then)})
			d.diff.Merges = largest(d.diff.Merges)
		case size[anchor] == len(group):
			d.diff.Stay++
			d.stay[anchor] = group
		}
	}
	for _, rec := range d.records {
		if len(to[rec.Anchor]) > 1 {
			members[rec.Anchor] = append(members[rec.Anchor], rec)
		}
	}
	for anchor, group := range members {
		d.diff.Split++
		slices.SortFunc(group, func(a, b *entity.Record) int { return cmp.Compare(then[a.PUID], then[b.PUID]) })
		d.diff.Splits = append(d.diff.Splits, Example{
			From: []locality.ID{d.id(anchor)}, To: d.ids(to[anchor]), Size: len(group),
			Records: d.examples(group, then),
		})
		d.diff.Splits = largest(d.diff.Splits)
	}
	d.diff.Records, d.diff.Before, d.diff.After = len(d.records), len(size), len(d.groups)
}

// largest returns the examples with the most records, in a deterministic order.
func largest(all []Example) []Example {
	slices.SortFunc(all, func(a, b Example) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), slices.CompareFunc(a.From, b.From, locality.ID.Compare))
	})
	return all[:min(len(all), diffExamples)]
}

func (d *differ) ids(anchors map[entity.PUID]bool) []locality.ID {
	var ids []locality.ID
	for anchor := range anchors {
		ids = append(ids, d.id(anchor))
	}
	slices.SortFunc(ids, locality.ID.Compare)
	return ids
}

// examples returns the first records of a group.
func (d *differ) examples(group []*entity.Record, then map[entity.PUID]entity.PUID) []Member {
	var some []Member
	for _, rec := range group[:min(len(group), diffExamples)] {
		some = append(some, Member{Ref: rec.Ref, Name: d.matcher.Schema().NameOf(rec.Attributes), From: d.id(rec.Anchor),
			To: d.id(then[rec.PUID])})
	}
	return some
}

// views counts the entities that stay but show other values.
func (d *differ) views(ctx context.Context) error {
	kind := resolve.NewKind(d.matcher)
	read := func(tx storage.Tx, after entity.PUID, limit int) ([]*entity.Entity, error) {
		return tx.ListEntities(ctx, after, limit)
	}
	return engine.Each(ctx, d.engine, engine.FirstPUID, read, (*entity.Entity).Anchor, func(e *entity.Entity) error {
		group := d.stay[e.Anchor()]
		if group != nil && e.Kind == kind.Name() &&
			!sameView(kind, e.View, d.engine.Resolver.Preview(kind, group, d.decided).View) {
			d.diff.Changed++
		}
		return nil
	})
}

// sameView reports whether two entities show the same values. For an attribute with a single value only the first
// counts.
func sameView(kind *resolve.Kind, a, b entity.View) bool {
	return slices.EqualFunc(a, b, func(a, b entity.MergedAttribute) bool {
		if a.Name != b.Name || len(a.Values) == 0 || len(b.Values) == 0 {
			return false
		}
		if !kind.Policy.Many(a.Name) {
			return a.Values[0].Value == b.Values[0].Value
		}
		return slices.EqualFunc(a.Values, b.Values, func(a, b entity.MergedValue) bool { return a.Value == b.Value })
	})
}
