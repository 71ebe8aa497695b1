// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"sync"
	"time"
)

// quota is how many metrics there are. Cells are asked once a minute while metrics are created; what this
// process creates in between is added. So several processes may exceed it by what they create in a minute.
type quota struct {
	most  int
	cells Cells
	now   func() time.Time

	mu      sync.Mutex
	asked   time.Time
	counted map[string]int // by cell; one that is down has what it had
	created int            // since
}

// take answers for how many of n new metrics there is room, and takes it.
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

// give gives back what was taken and not used.
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
