// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Top returns the counters with the most hits on a day, exactly, highest first.
func (r *Recorder) Top(ctx context.Context, q TopQuery) ([]Ranked, error) {
	switch {
	case q.Day.IsZero():
		return nil, invalid("day", "is missing: want a day such as 2026-11-20")
	case q.K < 0 || q.K > MaxTop:
		return nil, invalid("k", fmt.Sprintf("has to be 1 to %d", MaxTop))
	case q.K == 0:
		q.K = 10
	}
	// A metric and all its counts are in one cell.
	all, err := gather(ctx, r.cells.List(), func(ctx context.Context, cell string) (top []Ranked, err error) {
		err = r.cells.Cell(cell).View(ctx, func(tx Tx) error {
			top, err = tx.TopMetrics(ctx, MinuteOf(q.Day).Day(), q.Prefix, q.K)
			return err
		})
		return top, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(string(a.Metric), string(b.Metric)))
	})
	return all[:min(len(all), q.K)], nil
}
