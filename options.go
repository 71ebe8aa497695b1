// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"log/slog"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Documents is a database of documents that an installation has beside its cells; package storage/mongodb opens one.
// Metrics that are new are counted in it.
type Documents = engine.Documents

// OwnMetrics begins the names of the metrics that Locus counts itself by: every caller may read them, and only Locus adds
// to them.
const OwnMetrics = engine.OwnMetrics

// Options of Open. Nil is the default.
type Options struct {
	// Storage says how the cells are opened, or made.
	Storage storage.Options
	// Kinds are the kinds of things of an installation that has none yet; the first is that of records that
	// name none. Defaults to match.Kinds(). In one that has kinds those that it lacks are added, and one that
	// differs is kinds.ErrOtherKind: kinds.Handle.Switch changes it.
	Kinds []*match.Schema
	// Pack holds the statistics that names of kinds that are new are weighed with. Defaults to
	// match.DefaultPack().
	Pack *match.Pack
	// Logger receives one line per event. Defaults to discarding them.
	Logger *slog.Logger
	// Node tells the ids that this process mints from those of others. Defaults to a random one.
	Node locality.Node
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Waiting is how many callers may wait in the queue of writes. Defaults to 256.
	Waiting int
	// OnBatch, if set, is called after every group of writes. It must return soon.
	OnBatch func(resolve.Batched)
	// Retention is how long changes stay in the logs. Those that a rollup has not counted stay longer.
	// Defaults to 24 hours.
	Retention time.Duration
	// Counters says how hits are counted. Its clock defaults to Now.
	Counters counter.Options
	// Documents is the database of documents of the installation, nil if it has none. It belongs to the DB from
	// then on: Close closes it, and so does an error of Open.
	Documents Documents
	// CountItself has Locus count what it does, in metrics whose names begin with OwnMetrics: each of them
	// takes a puid.
	CountItself bool
	// ReadOnly opens the installation for questions: the cell map, heads and records stay as they are, and every call that
	// would change them is ErrReadOnly. Beside other processes it writes nothing at all; they keep the map, resolve, and
	// follow the rollups. Where no other process may be, it does the latter two, which only catch up with what is there.
	ReadOnly bool
	// Passive is ReadOnly that does not catch up either: not a row is written.
	Passive bool
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ReadOnly = d.ReadOnly || d.Passive
	if d.Kinds == nil {
		d.Kinds = match.Kinds()
	}
	if d.Pack == nil {
		d.Pack = match.DefaultPack()
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Waiting == 0 {
		d.Waiting = 256
	}
	if d.Retention == 0 {
		d.Retention = 24 * time.Hour
	}
	return d
}

// MaxLimit is how many items a page has at most.
const MaxLimit = engine.MaxLimit
