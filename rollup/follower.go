// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/lease"
)

// LeaseName is the lease in each cell that protects following and building its rollups.
const LeaseName = "rollup"

// Options of NewFollower. All but Batch and Wants are required.
type Options struct {
	// Database is the cell.
	Database Database
	// Owner is this process's name in the lease.
	Owner string
	// TTL is how long a follower may be silent before another process takes over.
	TTL time.Duration
	// Now is the clock. A wrong clock delays or duplicates work but causes no errors.
	Now func() time.Time
	// Batch is the number of changes read at once. Defaults to 20,000: under load the same groups change
	// repeatedly, and each is written once per batch.
	Batch int
	// Wants reports whether this process wants to follow the cell even if another one does; nil means always. If
	// it returns false, the process takes over only from an owner that is gone.
	Wants func() bool
}

// Follower maintains the rollups of one cell: it reads the log after the watermark, computes the effect on the
// groups, and commits it together with the new watermark. Its methods are single steps that the caller schedules.
// Only one goroutine may be in Step; others may run Build and Erase concurrently.
//
// Exactly-once counting relies on the transaction alone, which compares the owner and token of the lease and the
// watermark: a follower that wakes up late, that does not know whether its last commit succeeded, or that runs
// twice commits the next batch or nothing. The lease only avoids duplicate work.
type Follower struct {
	opts  Options
	lease *lease.Holder
	token atomic.Int64 // token of the lease while it is held, for work outside of Step
	told  int64        // token of the last Step that reported that the catalogue may be old
}

// NewFollower returns a follower. It starts no goroutines.
func NewFollower(opts Options) *Follower {
	if opts.Batch == 0 {
		opts.Batch = 20_000
	}
	stores := func(run func(context.Context, func(Tx) error) error) func(context.Context, func(lease.Store) error) error {
		return func(ctx context.Context, fn func(lease.Store) error) error {
			return run(ctx, func(tx Tx) error { return fn(tx) })
		}
	}
	return &Follower{opts: opts, lease: lease.NewHolder(lease.Options{
		Name: LeaseName, Owner: opts.Owner, TTL: opts.TTL, Now: opts.Now,
		Update: stores(opts.Database.Update), View: stores(opts.Database.View),
	})}
}

// note stores the lease token for work outside of Step.
func (f *Follower) note() {
	l, held := f.lease.Held()
	if !held {
		l.Token = 0
	}
	f.token.Store(l.Token)
}

// Pause announces how long the next Step may take to come because there is nothing to do; other processes wait
// that much longer before taking over. It is written by the next Step.
func (f *Follower) Pause(d time.Duration) { f.lease.Pause(d) }

// Release releases the lease, so that another process need not wait for it to expire.
func (f *Follower) Release(ctx context.Context) error {
	err := f.lease.Give(ctx)
	f.note()
	return err
}

// Other returns the process that was last seen to follow the cell instead of this one, "" if there is none.
func (f *Follower) Other() string { return f.lease.Seen().Owner }

// Wanted reports whether another process waits for the lease.
func (f *Follower) Wanted(ctx context.Context) (bool, error) { return f.lease.Wanted(ctx) }
