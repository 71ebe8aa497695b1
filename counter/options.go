// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"math/rand/v2"
	"time"
)

// Tx is one transaction of one cell.
type Tx interface{ Store }

// Database runs transactions of one cell. Update commits what fn wrote. Its error wraps ErrCommitUnknown if the
// outcome of the commit is unknown; any other error means that nothing was committed. View reads one snapshot. fn
// may run more than once.
type Database struct {
	Update, View func(ctx context.Context, fn func(Tx) error) error
	// Writer is nil if an Update is all or nothing. See package perdocument for another one.
	Writer Writer
}

// Cells are the databases that metrics are spread over. A metric never moves. Package cell implements this: its
// directory gives every name a number, which names the cell.
type Cells interface {
	// Places returns the place of each metric. With create, metrics without one get one; otherwise they have the
	// zero Place. With fresh, caches are bypassed, because a cell has lost a metric.
	Places(ctx context.Context, metrics []Metric, create, fresh bool) []Place
	// List names all cells in a stable order.
	List() []string
	// Cell returns the database of a cell named by List or Places.
	Cell(name string) Database
}

// Place is the location of a metric.
type Place struct {
	Cell string
	ID   ID
	// Err is why the place is unknown: the cell is unreachable, or the quota is exhausted.
	Err error
}

// Options of New. Nil is the default.
type Options struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Rand returns a number in [0, 1) that decides when a bucket is prepared. It must be safe for concurrent use.
	// Defaults to math/rand.
	Rand func() float64
	// Group limits the hits of one commit, unless a single batch has more. Defaults to 10,000.
	Group int
	// Linger is how long at most a group waits for the callers of the previous one. Negative disables waiting.
	// Defaults to 50 µs.
	Linger time.Duration
	// Waiting is the length of a cell's queue in batches; callers block when it is full. Defaults to 1024.
	Waiting int
	// Names is the size of the cache of metric places. Defaults to 200,000.
	Names int
	// Quota is the maximum number of metrics. Defaults to 1,000,000.
	Quota int
	// Retention is how long details are kept. The first entry whose Prefix matches applies; DefaultRetention
	// applies to other names.
	Retention []Retention
	// Unprepared disables the preparation of buckets.
	Unprepared bool
	// OnGroup, if set, is called after every commit. It must return quickly.
	OnGroup func(Group)
}

// Retention is how long details of metrics are kept; days are kept forever.
type Retention struct {
	Prefix Metric
	// Minutes and Quarters (which includes hours) are at least 8 days, and Quarters at least Minutes. Zero is
	// forever.
	Minutes, Quarters time.Duration
}

// DefaultRetention is 90 days of minutes and three years of quarters and hours.
var DefaultRetention = Retention{Minutes: 90 * 24 * time.Hour, Quarters: 3 * 365 * 24 * time.Hour}

// Group describes one commit.
type Group struct {
	Cell    string
	Batches int // number of batches
	Hits    int // number of hits in them
	Took    time.Duration
	Err     error // nil if it committed
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Rand == nil {
		d.Rand = rand.Float64
	}
	if d.Group == 0 {
		d.Group = 10_000
	}
	if d.Linger == 0 {
		d.Linger = 50 * time.Microsecond
	}
	if d.Waiting == 0 {
		d.Waiting = 1024
	}
	if d.Names == 0 {
		d.Names = 200_000
	}
	if d.Quota == 0 {
		d.Quota = 1_000_000
	}
	return d
}
