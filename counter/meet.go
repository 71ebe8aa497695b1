// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"slices"
)

// loadKinds reads the kinds of metrics that this process has not seen.
func (g *CommitGroup) loadKinds(ctx context.Context, tx Tx) error {
	strangers := g.ids(func(it *item) bool { _, known := it.place.known(); return !known })
	if len(strangers) == 0 {
		return nil
	}
	metas, err := tx.Metrics(ctx, strangers)
	if err != nil {
		return err
	}
	for i, id := range strangers {
		if metas[i].ID != 0 {
			g.kinds[id] = metas[i].Kind
		}
	}
	return nil
}

func (g *CommitGroup) ids(of func(*item) bool) []ID {
	var ids []ID
	for _, p := range g.parts {
		for i := range p.items {
			if it := &p.items[i]; !it.settled && of(it) {
				ids = append(ids, it.place.id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// ensureMetricRows ensures that every metric with a new day has its row. After a restore from a backup the cell may
// lack it; then nothing is counted, and the directory is asked again where the metric is.
func (g *CommitGroup) ensureMetricRows(ctx context.Context, tx Tx, made []BucketKey) error {
	if len(made) == 0 {
		return nil
	}
	first := map[ID]int64{}
	for _, key := range made {
		if day, ok := first[key.ID()]; !ok || key.Unit() < day {
			first[key.ID()] = key.Unit()
		}
	}
	of := map[ID]*item{}
	ids := g.ids(func(it *item) bool {
		if _, ok := first[it.place.id]; !ok || it.result != nil {
			return false
		}
		if old := of[it.place.id]; old == nil || it.fresh {
			of[it.place.id] = it
		}
		return true
	})
	metas, err := tx.Metrics(ctx, ids)
	if err != nil {
		return err
	}
	var put []Meta
	var lost bool
	for i, id := range ids {
		it, is, day := of[id], metas[i], first[id]
		switch there := is.ID != 0; {
		case there && is.Kind != it.kind:
			if _, known := it.place.known(); !known {
				return errAgain
			}
			g.lost[id], lost = true, true // the number now belongs to another metric
		case there && is.First <= day:
		case there || it.fresh:
			put = append(put, Meta{ID: id, Name: it.place.metric, Kind: it.kind, First: day})
		default:
			g.lost[id], lost = true, true
		}
	}
	if lost {
		return ErrForgotten
	}
	return g.putMetrics(ctx, tx, put)
}

// putMetrics writes the rows of metrics. The first writer of a row decides its kind.
func (g *CommitGroup) putMetrics(ctx context.Context, tx Tx, put []Meta) error {
	if len(put) == 0 {
		return nil
	}
	if err := tx.PutMetrics(ctx, put); err != nil {
		return err
	}
	ids := make([]ID, len(put))
	for i := range put {
		ids[i] = put[i].ID
	}
	metas, err := tx.Metrics(ctx, ids)
	for i, is := range metas {
		if is.Kind != put[i].Kind {
			return errAgain
		}
	}
	return err
}
