// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Metrics returns at most limit metrics with a prefix, after the given name, in the order of their names.
func (r *Recorder) Metrics(ctx context.Context, prefix, after Metric, limit int) ([]Info, error) {
	if limit < 1 {
		return nil, nil
	}
	all, err := gather(ctx, r.cells.List(), func(ctx context.Context, cell string) ([]Info, error) {
		var metas []Meta
		err := r.cells.Cell(cell).View(ctx, func(tx Tx) (err error) {
			metas, err = tx.ListMetrics(ctx, prefix, after, limit)
			return err
		})
		infos := make([]Info, len(metas))
		for i, m := range metas {
			infos[i] = Info{Metric: m.Name, Kind: m.Kind, First: dayBegin(m.First), Cell: cell, ID: m.ID}
		}
		return infos, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(string(a.Metric), string(b.Metric)) })
	return all[:min(len(all), limit)], nil
}

func dayBegin(day int64) time.Time { return Minute(day * dayMinutes).Time() }

// Info describes a metric.
type Info struct {
	Metric Metric
	Kind   Kind
	First  time.Time // day of its first hit
	Cell   string
	ID     ID
}
