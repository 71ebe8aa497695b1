// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"slices"
	"strings"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/rollup"
)

// The simulator's documents: only the write of a single document is atomic. Other tasks run between any two reads
// or writes; a process is killed between two; a reply is lost after some writes, and the rest arrives at any
// later time, or never.

// simDocuments are the documents as a task sees them.
type simDocuments struct {
	shelf
	w *simWorld
}

// flying are writes sent by a task that no longer waits for them.
type flying struct {
	in    documents.Namespace
	swaps []documents.Swap
}

// between lets other tasks run now and then.
func (s simDocuments) between() bool { return s.w.rng.IntN(3) > 0 || s.w.running.pause() }

func (s simDocuments) ask() error {
	switch {
	case !s.w.running.pause():
		return errSimKilled
	case s.w.chance(s.w.lossy / 2):
		return errSimDown
	}
	return nil
}

func (s simDocuments) Documents(ctx context.Context, in documents.Namespace, keys [][]byte) (docs []documents.Document, err error) {
	if err := s.ask(); err != nil {
		return nil, err
	}
	for _, key := range keys {
		one, _ := s.shelf.Documents(ctx, in, [][]byte{key})
		if docs = append(docs, one...); !s.between() {
			return nil, errSimKilled
		}
	}
	return docs, nil
}

func (s simDocuments) Scan(ctx context.Context, in documents.Namespace, after []byte, limit int) (docs []documents.Document, err error) {
	if err := s.ask(); err != nil {
		return nil, err
	}
	for len(docs) < limit {
		one, _ := s.shelf.Scan(ctx, in, after, 1)
		if len(one) == 0 {
			break
		}
		docs, after = append(docs, one...), one[0].Key
		if !s.between() {
			return nil, errSimKilled
		}
	}
	return docs, nil
}

func (s simDocuments) Swap(_ context.Context, in documents.Namespace, swaps []documents.Swap) ([]bool, error) {
	if err := s.ask(); err != nil {
		return nil, err
	}
	swaps = slices.Clone(swaps)
	done := make([]bool, len(swaps))
	for _, i := range s.w.rng.Perm(len(swaps)) { // in random order
		swap := swaps[i]
		if swap.Is && swap.Was > s.w.at.generations[in.Generation].Watermark {
			s.w.counts[sawAhead]++
		}
		if done[i] = s.write(in, swap); !done[i] {
			s.w.counts[sawSwapLost]++
		}
		late := flying{in, swaps[i+1:]}
		switch {
		case !s.between():
			s.w.flying = append(s.w.flying, late)
			return nil, errSimKilled
		case s.w.chance(s.w.lossy):
			s.w.counts[sawLostAnswer]++
			s.w.flying = append(s.w.flying, late)
			return nil, errSimLost
		}
	}
	return done, nil
}

// write writes one document and checks the result.
func (s simDocuments) write(in documents.Namespace, swap documents.Swap) bool {
	done := s.swap(in, swap)
	if g, ok := s.w.at.generations[in.Generation]; ok && g.BuildID == in.BuildID && g.State == rollup.Following {
		s.w.check(g)
	}
	return done
}

func (s simDocuments) Drop(ctx context.Context, generation int64, limit int) (int, error) {
	if err := s.ask(); err != nil {
		return 0, err
	}
	return s.shelf.Drop(ctx, generation, limit)
}

// arrive lets late writes arrive.
func (w *simWorld) arrive() {
	if len(w.flying) == 0 || w.rng.IntN(40) > 0 {
		return
	}
	i := w.rng.IntN(len(w.flying))
	late := w.flying[i]
	w.flying = slices.Delete(w.flying, i, i+1)
	for _, swap := range late.swaps {
		if w.rng.IntN(4) > 0 && (simDocuments{w.documents, w}).write(late.in, swap) {
			w.counts[sawArrived]++
		}
	}
}

// instant is the cell as seen while no other task runs.
func (w *simWorld) instant() rollup.Database {
	return rollup.Database{View: func(_ context.Context, fn func(rollup.Tx) error) error { return fn(w.at.clone()) }, Elsewhere: groupsIn(w.documents)}
}

// place returns the log position that a generation answers from.
func (w *simWorld) place(g rollup.Generation) changelog.Seq {
	if g.Definition.Store == rollup.InCell {
		return g.Watermark
	}
	part, err := w.instant().Read(context.Background(), rollup.Query{Generation: g.Number, Keys: [][]string{}}, nil)
	if err != nil {
		return g.Watermark
	}
	return part.Standing.Watermark
}

func groupsOf(d *rollup.Definition, lines []string) (n int) {
	for _, line := range lines {
		if d.Dimension == "" || strings.Contains(line, ` at "total":`) {
			n++
		}
	}
	return n
}

// answered compares an answer with the oracle.
func (w *simWorld) answered(d *rollup.Definition, q rollup.Query, part *rollup.Part) {
	groups, more := rollup.Merge(d, []*rollup.Part{part}, q.Limit)
	got, want := shown(d, groups), naive(d, w.things(d.Over, part.Standing.Watermark))
	whole := q.Keys == nil && q.After == nil && !more
	if strange := slices.ContainsFunc(got, func(line string) bool { return !slices.Contains(want, line) }); strange || whole && len(got) != len(want) {
		w.fail("generation %d was read at %d as\n%s\nwant\n%s", q.Generation, part.Standing.Watermark,
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// verify runs Verify while other tasks continue.
func (w *simWorld) verify(generation int64) {
	if v, err := w.database().Verify(context.Background(), generation, nil); err == nil && v.Differs > 0 {
		w.fail("verify generation %d: %+v", generation, v)
	}
}

func (w *simWorld) query(d *rollup.Definition, generation int64) rollup.Query {
	q := rollup.Query{Generation: generation}
	if !w.apart {
		return q
	}
	word := func() string { return []string{"mammal", "wings", "ears", "a", "b", "c"}[w.rng.IntN(6)] }
	group := func() (values []string) {
		for range d.Group {
			values = append(values, word())
		}
		return values
	}
	switch w.rng.IntN(6) {
	case 0:
		q.Keys = [][]string{group(), group(), group()}
	case 1:
		q.Limit = 1 + w.rng.IntN(2)
	case 2:
		q.Limit, q.After = 1+w.rng.IntN(2), group()
	}
	return q
}

var simApart = definitions(
	`{ rollup: x, kind: animal, group: tags, dimension: city, measures: { n: count, w: { sum: weight, scale: 1 } } }`,
	`{ rollup: x, kind: animal, group: [tags, city], where: { city: [a, b], weight: { exists: true } }, measures: { mean: { avg: weight, scale: 1 } } }`,
	`{ rollup: x, kind: animal, over: records, group: tags, where: { city: { not: a } } }`,
)

func (w *simWorld) define() rollup.Definition {
	if !w.apart {
		return simDefinitions[w.rng.IntN(len(simDefinitions))]
	}
	d := simApart[w.rng.IntN(len(simApart))]
	if w.rng.IntN(3) > 0 {
		d.Store = rollup.InMongoDB
	}
	return d
}
