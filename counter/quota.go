// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"sync"
	"time"
)

// quota limits the number of metrics. While metrics are created, each cell is asked for its number once a minute, and
// metrics that this process creates in between are added. So several processes may exceed the quota by the metrics that
// they create in a minute.
type quota struct {
	most  int
	cells Cells
	now   func() time.Time

	mu      sync.Mutex
	asked   time.Time
	counted map[string]int // by cell; an unreachable one keeps its last number
	created int            // since then
}

// take reserves room for up to n new metrics and returns how many fit.
func (q *quota) take(ctx context.Context, n int) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if passed := q.now().Sub(q.asked); q.asked.IsZero() || passed < 0 || passed >= time.Minute {
		q.count(ctx)
	}
	there := q.created
	for _, c := range q.counted {
		there += c
	}
	n = max(min(n, q.most-there), 0)
	q.created += n
	return n
}

// give returns unused reservations.
func (q *quota) give(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.created = max(q.created-n, 0)
}

func (q *quota) count(ctx context.Context) {
	q.asked, q.created = q.now(), 0
	for _, cell := range q.cells.List() {
		var n int
		err := q.cells.Cell(cell).View(ctx, func(tx Tx) (err error) {
			n, err = tx.CountMetrics(ctx)
			return err
		})
		if err == nil {
			q.counted[cell] = n
		}
	}
}
