// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"math/rand/v2"
	"time"
)

// Tx is one transaction of one cell.
type Tx interface{ Store }

// Database runs transactions of one cell. Update commits what fn wrote; its error wraps ErrUnconfirmed if
// nobody knows whether it did, all others mean that it did not. View reads one snapshot. fn may run again.
type Database struct {
	Update, View func(ctx context.Context, fn func(Tx) error) error
}

// Cells are the databases that metrics are spread over. A metric has one place for ever. Package cell can do
// that: its directory gives every name a number, and the number names the cell.
type Cells interface {
	// Places answers with the place of each metric. With create those that have none get one, else theirs
	// is the zero Place. With fresh nothing is answered from memory, since a cell has lost what it had.
	Places(ctx context.Context, metrics []Metric, create, fresh bool) []Place
	// List names all cells there are, in an order that stays.
	List() []string
	// Cell answers with the database of a cell that List or Places has named.
	Cell(name string) Database
}

// Place is where a metric lives.
type Place struct {
	Cell string
	ID   ID
	// Err says why that is not known: the cell cannot be asked, or there is no room for one more.
	Err error
}

// Options of New. Nil is the default.
type Options struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Rand answers with a number in [0, 1), and decides when a span is prepared. Several goroutines may ask.
	// Defaults to math/rand.
	Rand func() float64
	// Group is how many hits one commit takes at most, unless a single batch brings more. Defaults to 10,000.
	Group int
	// Linger is for how long at most a group waits for those who came with the last one. Negative is not at
	// all. Defaults to 50 µs.
	Linger time.Duration
	// Waiting is how many batches may wait for the next commit of a cell; more wait for a place. Defaults
	// to 1024.
	Waiting int
	// Names is how many places of metrics are remembered. Defaults to 200,000.
	Names int
	// Quota is how many metrics there may be. Defaults to 1,000,000.
	Quota int
	// Retention says for how long details are kept. The first one whose prefix a name has counts. Names that
	// none of them fits are kept as DefaultRetention says.
	Retention []Retention
	// Unprepared leaves out the preparing of spans.
	Unprepared bool
	// OnGroup, if set, is called after every commit. It must return soon.
	OnGroup func(Group)
}

// Retention is for how long details of metrics are kept; days are kept for ever.
type Retention struct {
	Prefix Metric
	// Minutes and Quarters (and hours with them) are kept for at least 8 days, Quarters at least as long as
	// Minutes. Zero is for ever.
	Minutes, Quarters time.Duration
}

// DefaultRetention is 90 days of minutes and three years of quarters and hours.
var DefaultRetention = Retention{Minutes: 90 * 24 * time.Hour, Quarters: 3 * 365 * 24 * time.Hour}

// Group tells of one commit.
type Group struct {
	Cell    string
	Batches int // that it answered
	Hits    int // of them
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
