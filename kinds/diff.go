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
)

// Diff is what a kind would be under other rules. Entities that stay have the same records; those that
// do not merge, split, or both: their records come from several entities, or go to several.
type Diff struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"` // of the proposed schema
	Pack    string `json:"pack"`    // the proposed one
	Records int    `json:"records"`
	Before  int    `json:"before"`  // entities now
	After   int    `json:"after"`   // entities then
	Stay    int    `json:"stay"`    // of those then
	Changed int    `json:"changed"` // stay, and show other values
	Merged  int    `json:"merged"`  // entities then whose records come from several
	Split   int    `json:"split"`   // entities now whose records go to several
	// Merges and Splits are the largest, at most DiffExamples of each.
	Merges []Example `json:"merges"`
	Splits []Example `json:"splits"`
}

// Example is entities that merge into one, or one that splits.
type Example struct {
	From    []locality.ID `json:"from"`
	To      []locality.ID `json:"to"`
	Size    int           `json:"size"`    // how many records it is about
	Records []Member      `json:"records"` // the first of them
}

// Member is a record that changes its entity.
type Member struct {
	entity.Ref
	Name string      `json:"name,omitempty"`
	From locality.ID `json:"from"`
	To   locality.ID `json:"to"`
}

const (
	// DiffExamples is how many examples a comparison names of a kind, and how many records of each.
	DiffExamples = 20
	// MaxDiff is how many records can be compared; each takes about 5 kB of memory meanwhile.
	MaxDiff = 500_000
)

// Compare says what would change if a kind were resolved by other rules. It reads all live records of the kind
// into memory, resolves them there, and writes nothing. What is put meanwhile may or may not be in it.
func (h *Handle) Compare(ctx context.Context, p Proposal, progress func(Progress)) (*Diff, error) {
	schema, pack, err := h.proposed(ctx, p)
	if err != nil {
		return nil, err
	}
	m := match.New(schema, pack)
	d := &differ{engine: h.engine, matcher: m, of: map[entity.PUID]*entity.Record{}, decided: map[entity.PUID][]entity.Decision{}}
	d.diff = &Diff{Kind: schema.Kind, Version: schema.Version, Pack: resolve.HashText(pack.Hash()), Merges: []Example{}, Splits: []Example{}}
	counting := h.progress(ctx, "reading", progress)
	if err := h.eachRecord(ctx, schema.Kind, func(rec *entity.Record) error {
		if counting.add(1); counting.Records > MaxDiff {
			return fmt.Errorf("%w: there are more than %d of kind %s; try it with a part of them in an installation of its own", ErrTooMany, MaxDiff, schema.Kind)
		}
		d.records = append(d.records, rec)
		d.of[rec.PUID] = rec
		return nil
	}); err != nil {
		return nil, wrapRules(err)
	}
	if err := d.readDecisions(ctx); err != nil {
		return nil, wrapRules(err)
	}
	counting.Step, counting.Of = "resolving", len(d.records)
	counting.add(0)
	d.groups = resolve.Batch(m, d.records, d.decisions...)
	if err := ctx.Err(); err != nil {
		return nil, wrapRules(err)
	}
	counting.Step, counting.told = "comparing", counting.begun
	counting.add(0)
	d.compare()
	if err := d.views(ctx); err != nil {
		return nil, wrapRules(err)
	}
	return d.diff, nil
}

// differ compares the entities of records with what they would be.
type differ struct {
	engine    *engine.Engine
	matcher   *match.Matcher
	records   []*entity.Record
	of        map[entity.PUID]*entity.Record
	decisions []entity.Decision
	decided   map[entity.PUID][]entity.Decision
	groups    [][]*entity.Record // as they would be
	diff      *Diff
	stay      map[entity.PUID][]*entity.Record // by the present anchor
}

func (d *differ) readDecisions(ctx context.Context) error {
	read := func(tx resolve.Tx, after entity.DecisionKey, limit int) ([]entity.Decision, error) {
		return tx.ListDecisions(ctx, after, limit)
	}
	return engine.Each(ctx, d.engine, entity.DecisionKey{A: engine.FirstPUID}, read, func(of entity.Decision) entity.DecisionKey { return of.Key() }, func(of entity.Decision) error {
		d.decisions = append(d.decisions, of)
		d.decided[of.A] = append(d.decided[of.A], of)
		return nil
	})
}

// id is what the entity of an anchor is called: the birth id of that record.
func (d *differ) id(anchor entity.PUID) locality.ID {
	if rec := d.of[anchor]; rec != nil {
		return rec.Birth
	}
	return locality.ID{}
}

// compare counts what merges and splits.
func (d *differ) compare() {
	size := map[entity.PUID]int{} // of the entities now
	for _, rec := range d.records {
		size[rec.Anchor]++
	}
	to := map[entity.PUID]map[entity.PUID]bool{} // by the present anchor, the new ones
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
			d.diff.Merges = append(d.diff.Merges, Example{From: d.ids(from), To: []locality.ID{group[0].Birth}, Size: len(group), Records: d.examples(group, then)})
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
		d.diff.Splits = append(d.diff.Splits, Example{From: []locality.ID{d.id(anchor)}, To: d.ids(to[anchor]), Size: len(group), Records: d.examples(group, then)})
		d.diff.Splits = largest(d.diff.Splits)
	}
	d.diff.Records, d.diff.Before, d.diff.After = len(d.records), len(size), len(d.groups)
}

// largest keeps the examples of most records, in an order that is always the same.
func largest(all []Example) []Example {
	slices.SortFunc(all, func(a, b Example) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), slices.CompareFunc(a.From, b.From, locality.ID.Compare))
	})
	return all[:min(len(all), DiffExamples)]
}

func (d *differ) ids(anchors map[entity.PUID]bool) []locality.ID {
	var ids []locality.ID
	for anchor := range anchors {
		ids = append(ids, d.id(anchor))
	}
	slices.SortFunc(ids, locality.ID.Compare)
	return ids
}

// examples are some of the records of a group.
func (d *differ) examples(group []*entity.Record, then map[entity.PUID]entity.PUID) []Member {
	var some []Member
	for _, rec := range group[:min(len(group), DiffExamples)] {
		some = append(some, Member{Ref: rec.Ref, Name: d.matcher.Schema().NameOf(rec.Attributes), From: d.id(rec.Anchor), To: d.id(then[rec.PUID])})
	}
	return some
}

// views counts the entities that stay and show other values.
func (d *differ) views(ctx context.Context) error {
	kind := resolve.NewKind(d.matcher)
	read := func(tx resolve.Tx, after entity.PUID, limit int) ([]*entity.Entity, error) {
		return tx.ListEntities(ctx, after, limit)
	}
	return engine.Each(ctx, d.engine, engine.FirstPUID, read, (*entity.Entity).Anchor, func(e *entity.Entity) error {
		group := d.stay[e.Anchor()]
		if group != nil && e.Kind == kind.Name() && !sameView(kind, e.View, d.engine.Resolver.Preview(kind, group, d.decided).View) {
			d.diff.Changed++
		}
		return nil
	})
}

// sameView reports whether two entities show the same: of an attribute that has one value the first counts.
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
