// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
)

// Writer writes hits and days to a cell that does not commit them in one transaction. A Database without a Writer
// writes each group, and each set of days, in one Update: all or nothing. A Writer may commit some hits or days and not
// others, and reports which.
type Writer interface {
	// Count counts the hits of a group and sets their results. It returns nil if the results are final; any other
	// error means that nothing was counted, unless it wraps ErrCommitUnknown.
	Count(ctx context.Context, g *CommitGroup) error
	// Rewrite runs an update of days that do not depend on each other. failed has the errors of the days that were not
	// written, with ErrConflict for days that another process wrote at the same time. If err is not nil, nothing was
	// written.
	Rewrite(ctx context.Context, fn func(Tx) error) (failed map[BucketKey]error, err error)
}

// writer returns the Writer of a database.
func (d Database) writer() Writer {
	if d.Writer != nil {
		return d.Writer
	}
	return transactions{d}
}

// transactions is the Writer of a database whose updates are all or nothing.
type transactions struct{ Database }

// again limits the runs of a transaction with new knowledge.
const again = 4

// Count commits a group, and retries carefully if necessary.
func (d transactions) Count(ctx context.Context, g *CommitGroup) (err error) {
	for range again {
		err = d.Update(ctx, func(tx Tx) error { return g.Apply(ctx, tx, &g.cell) })
		if err == nil || !g.Learn(err) {
			break
		}
	}
	return err
}

// Rewrite updates days in one transaction.
func (d transactions) Rewrite(ctx context.Context, fn func(Tx) error) (map[BucketKey]error, error) {
	return nil, d.Update(ctx, fn)
}

// Learn processes an error of a transaction, and reports whether the next Apply may succeed.
func (g *CommitGroup) Learn(err error) bool {
	switch {
	case errors.Is(err, ErrCommitUnknown):
	case errors.Is(err, ErrOverflow) && !g.checkOverflow:
		g.checkOverflow = true
		return true
	case errors.Is(err, ErrForgotten) || errors.Is(err, errAgain):
		return true
	}
	return false
}
