// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"log/slog"
	"time"

	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
)

// Documents is a document database that an installation uses in addition to its cells; package storage/mongodb opens
// one. New metrics are counted in it.
type Documents = storage.Documents

// Tracer starts spans; see package span.
type Tracer = span.Tracer

// OwnMetrics is the name prefix of the metrics that Locus keeps about itself. Every caller may read them; only Locus
// adds to them.
const OwnMetrics = engine.OwnMetrics

// Options configures Open. Nil means defaults.
type Options struct {
	// Storage configures how the cells are opened or created.
	Storage storage.Options
	// Kinds are the kinds of a new installation; the first is the default kind, used by records that name none.
	// Defaults to match.Kinds(). In an existing installation, missing kinds are added, and a kind that differs from the
	// stored one is kinds.ErrOtherKind: change it with kinds.Handle.Migrate.
	Kinds []*match.Schema
	// TermFrequencies are the name statistics for new kinds. Defaults to match.DefaultTermFrequencies().
	TermFrequencies *match.TermFrequencies
	// Logger receives one line per event. Defaults to discarding them.
	Logger *slog.Logger
	// Tracer receives spans for the work of sinks and sources, nil for none. Spans of operations are children of the
	// spans in their contexts.
	Tracer Tracer
	// Node makes the ids minted by this process differ from those of other processes. Defaults to a random one.
	Node locality.Node
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// PeerAddr is an address, HOST:PORT with a port of 0 for a free one, at which other processes that share the cells
	// send their writes to this one while it resolves records; without it the other processes' records take the slower
	// way through the databases. The host must be one under which the others reach this process. Only processes that
	// can read the databases can connect. Ignored if the cells are not shared; "" listens nowhere, and sends nothing.
	PeerAddr string
	// Waiting is how many callers may wait in the write queue. Defaults to 256.
	Waiting int
	// OnBatch, if set, is called after every group of writes. It must return quickly.
	OnBatch func(resolve.Batched)
	// Retention is how long changes stay in the logs. Changes that a rollup has not counted yet stay longer. Defaults
	// to 24 hours.
	Retention time.Duration
	// Counters configures counting. Its clock defaults to Now.
	Counters counter.Options
	// Documents is the document database of the installation, nil if it has none. The DB takes ownership: Close closes
	// it, and so does an error of Open.
	Documents Documents
	// Sinks makes this process deliver to the targets of the installation. Nil delivers nothing.
	Sinks *sinks.Options
	// Sources makes this process read the streams of the installation. Nil reads none.
	Sources *sources.Options
	// Audit configures the audit log of this process. Nil means its defaults.
	Audit *audits.Options
	// MaxRollups is how many rollups Rollups().Define lets an installation have. Each makes every write slower: 32 made
	// them five times slower on two busy processors. MaxKinds is how many kinds Kinds().Create lets it have. They
	// default to 32 and 64; negative means no limit.
	MaxRollups, MaxKinds int
	// AccessGrace is how long tokens, sessions and blocks that this process has read are used while the cell that keeps
	// them cannot be read. Afterwards every request that needs a token is refused as unavailable. Defaults to
	// tokens.DefaultGrace, 5 minutes.
	AccessGrace time.Duration
	// CountItself makes Locus count its own work in metrics that begin with OwnMetrics. Each of these metrics takes a
	// puid.
	CountItself bool
	// ReadOnly opens the installation for reading: the cell map, heads and records are not modified, and every call
	// that would modify them returns ErrReadOnly. If other processes share the cells, this process writes nothing at
	// all. If it is the only process, it still resolves pending records and follows the rollups, which only catches up
	// with stored data.
	ReadOnly bool
	// Hold leaves records unresolved when they are put: durable and pending, until Load or Release of Records().
	Hold bool
	// Passive is ReadOnly without that catching up: not a row is written.
	Passive bool
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ReadOnly = d.ReadOnly || d.Passive
	if d.MaxRollups == 0 {
		d.MaxRollups = 32
	}
	if d.MaxKinds == 0 {
		d.MaxKinds = 64
	}
	if d.Kinds == nil {
		d.Kinds = match.Kinds()
	}
	if d.TermFrequencies == nil {
		d.TermFrequencies = match.DefaultTermFrequencies()
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
