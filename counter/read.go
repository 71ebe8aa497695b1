// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/internal/problem"
)

// Series returns the counted values. The error is an *InvalidError, ErrNotFound if a name in Metrics does not
// exist, or ErrRange.
func (r *Recorder) Series(ctx context.Context, q Query) (*Series, error) {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	edges, err := cut(q.From, q.To, q.Step, q.Zone)
	if err != nil {
		return nil, err
	}
	now := r.opts.Now()
	p := newPlan(edges, now)
	var lines []*line
	if q.Prefix != nil {
		lines, err = r.readPrefix(ctx, p, *q.Prefix)
	} else {
		lines, err = r.readNames(ctx, p, q.Metrics)
	}
	if err != nil {
		return nil, err
	}
	out := &Series{Step: q.Step, Zone: q.Zone.String(), Complete: now.In(q.Zone), Lines: make([]Line, len(lines))}
	out.Times = make([]time.Time, len(edges)-1)
	for i := range out.Times {
		out.Times[i] = edges[i].Time().In(q.Zone)
	}
	for i, l := range lines {
		out.Lines[i] = l.answer(p, q.Zone)
	}
	return out, nil
}

// check finds every problem of a query except its size.
func (q *Query) check() error {
	var e InvalidError
	fail := func(wrong bool, field, detail string) {
		if wrong {
			e.Problems = append(e.Problems, problem.New("/"+field, "invalid", detail))
		}
	}
	fail(q.Prefix != nil && q.Metrics != nil, "prefix", "give names or a prefix, not both")
	fail(q.Prefix == nil && len(q.Metrics) == 0, "metric", "is missing: give names of metrics, or a prefix")
	fail(q.Step != ByMinute && q.Step != ByHour && q.Step != ByDay, "step", "want minute, hour or day")
	for i, t := range []time.Time{q.From, q.To} {
		year := t.UTC().Year()
		fail(t.IsZero() || year < 1 || year > 9999, []string{"from", "to"}[i], "want a time in the years 1 to 9999")
	}
	fail(!q.To.After(q.From), "to", "has to be after from")
	if e.Problems != nil {
		return &e
	}
	return nil
}

// readPrefix reads all metrics with a prefix, each cell in one snapshot.
func (r *Recorder) readPrefix(ctx context.Context, p *plan, prefix Metric) ([]*line, error) {
	most := maxPoints / (len(p.edges) - 1)
	lines, err := gather(ctx, r.cells.List(), func(ctx context.Context, cell string) ([]*line, error) {
		return r.readCell(ctx, p, cell, func(tx Tx) ([]Meta, error) {
			metas, err := tx.ListMetrics(ctx, prefix, "", most+1)
			if err == nil && len(metas) > most {
				err = fmt.Errorf("%w: more than %d metrics begin with the prefix", ErrRange, most)
			}
			return metas, err
		})
	})
	if err == nil && len(lines) > most {
		err = fmt.Errorf("%w: %d metrics begin with the prefix, %d are the most", ErrRange, len(lines), most)
	}
	slices.SortFunc(lines, func(a, b *line) int { return strings.Compare(string(a.meta.Name), string(b.meta.Name)) })
	return lines, err
}

// readNames reads metrics in the order of the names in the query.
func (r *Recorder) readNames(ctx context.Context, p *plan, names []Metric) ([]*line, error) {
	if most := maxPoints / (len(p.edges) - 1); len(names) > most {
		return nil, fmt.Errorf("%w: %d metrics, %d are the most", ErrRange, len(names), most)
	}
	for fresh := false; ; fresh = true {
		places, err := r.find(ctx, names, fresh)
		if err != nil {
			return nil, err
		}
		var cells []string
		ids := map[string][]ID{}
		for _, at := range places {
			if ids[at.Cell] == nil {
				cells = append(cells, at.Cell)
			}
			ids[at.Cell] = append(ids[at.Cell], at.ID)
		}
		found, err := gather(ctx, cells, func(ctx context.Context, cell string) ([]*line, error) {
			return r.readCell(ctx, p, cell, func(tx Tx) ([]Meta, error) { return tx.Metrics(ctx, ids[cell]) })
		})
		if err != nil {
			return nil, err
		}
		lines, err := inOrder(found, names)
		// After a restore from a backup, the number may belong to another metric.
		if err == nil || fresh {
			return lines, err
		}
	}
}

// inOrder returns the lines in the order of names. The error is ErrNotFound.
func inOrder(found []*line, names []Metric) ([]*line, error) {
	byName := make(map[Metric]*line, len(found))
	for _, l := range found {
		byName[l.meta.Name] = l
	}
	lines := make([]*line, len(names))
	for i, name := range names {
		if lines[i] = byName[name]; lines[i] == nil {
			return nil, notFound(name)
		}
	}
	return lines, nil
}

func notFound(name Metric) error { return fmt.Errorf("%w: %q", ErrNotFound, string(name)) }

// find returns the places of metrics, each looked up once. The error is ErrNotFound if one has none.
func (r *Recorder) find(ctx context.Context, names []Metric, fresh bool) (map[Metric]Place, error) {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	places := make(map[Metric]Place, len(names))
	for i, at := range r.cells.Places(ctx, names, false, fresh) {
		switch {
		case at.Err != nil:
			return nil, at.Err
		case at.ID == 0:
			return nil, notFound(names[i])
		}
		places[names[i]] = at
	}
	return places, nil
}

// abreast is the number of cells read in parallel.
const abreast = 16

// gather reads cells in parallel and concatenates the results.
func gather[T any](ctx context.Context, cells []string, ask func(context.Context, string) ([]T, error)) ([]T, error) {
	var all []T
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(abreast)
	for _, cell := range cells {
		g.Go(func() error {
			some, err := ask(ctx, cell)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, some...)
			return err
		})
	}
	return all, g.Wait()
}

// readCell reads metrics of one cell in one snapshot, so that days equal the sum of their hours and minutes
// despite concurrent writes. Entries of list without a name are skipped.
func (r *Recorder) readCell(ctx context.Context, p *plan, cell string,
	list func(Tx) ([]Meta, error)) (lines []*line, err error) {
	db := r.cells.Cell(cell)
	err = db.View(ctx, func(tx Tx) error {
		metas, err := list(tx)
		if err != nil {
			return err
		}
		lines = nil
		var counters, gauges []*line
		for _, m := range metas {
			if m.Name == "" {
				continue
			}
			l := p.line(m)
			if lines = append(lines, l); m.Kind == Gauge {
				gauges = append(gauges, l)
			} else {
				counters = append(counters, l)
			}
		}
		return errors.Join(p.read(counters, &counterReader{ctx: ctx, tx: tx}), p.read(gauges, &gaugeReader{ctx: ctx, tx: tx}))
	})
	return lines, err
}

// lineDay is a line's need of a day.
type lineDay struct {
	line *line
	need *needs
	key  BucketKey
}

type dayReader interface {
	read(p *plan, days []lineDay) error
}

// read reads the days of the lines in chunks.
func (p *plan) read(lines []*line, from dayReader) error {
	// With minutes, each day needs up to 24 more buckets.
	size := 1000
	if slices.ContainsFunc(p.days, func(n needs) bool { return n.level == Minutes }) {
		size = 100
	}
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(a, b *line) int { return cmp.Compare(a.meta.ID, b.meta.ID) })
	days := make([]lineDay, 0, size)
	for i := range p.days {
		n := &p.days[i]
		if n.day > p.now.Day()+1 {
			break // nothing is counted there
		}
		for _, l := range lines {
			if n.day < l.meta.First {
				continue
			}
			if days = append(days, lineDay{l, n, NewBucketKey(n.day, l.meta.ID)}); len(days) == size {
				if err := from.read(p, days); err != nil {
					return err
				}
				days = days[:0]
			}
		}
	}
	if len(days) == 0 {
		return nil
	}
	return from.read(p, days)
}
