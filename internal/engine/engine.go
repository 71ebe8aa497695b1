// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Cells are the open databases of an installation.
type Cells = storage.Cells

// Engine is an open installation. Its fields are set before first use and do not change.
type Engine struct {
	Cells    *Cells
	Resolver *resolve.Resolver
	Keys     *cell.Directory[storage.Tx]
	Queue    *resolve.Queue // write queue; nil if the engine is Passive
	Logger   *slog.Logger
	Tracer   span.Tracer // nil for no traces
	Now      func() time.Time
	ReadOnly bool
	// Passive means that the process writes nothing at all, because it was opened that way, or read-only while other
	// processes do the pending work.
	Passive bool
	// MaxRollups and MaxKinds limit how many can be defined; a negative number is no limit.
	MaxRollups, MaxKinds int
	// AccessGrace is how long tokens that were read are valid while they cannot be read; 0 is the default of package
	// tokens.
	AccessGrace time.Duration
	// Documents is the document database of the installation, nil if there is none.
	Documents storage.Documents
	// Written is called after each write and wakes the followers. Count adds to one of the metrics that the
	// installation keeps about itself.
	Written func()
	Count   func(metric string, n int64)

	migrations migrations
}

// Map returns the cell map.
func (e *Engine) Map() *cell.Map { return e.Cells.Map() }

// Alone reports whether this process is the only one that uses the cells.
func (e *Engine) Alone() bool { return e.Cells.Alone() }

// CheckWrites returns ErrReadOnly if the installation was opened read-only.
func (e *Engine) CheckWrites() error {
	if e.ReadOnly {
		return ErrReadOnly
	}
	return nil
}

// Schema returns the schema of the named kind, nil if there is none. "" is the default kind.
func (e *Engine) Schema(kind string) *match.Schema {
	if k := e.Kind(kind); k != nil {
		return k.Matcher.Schema()
	}
	return nil
}

// Kind returns the rules of the named kind, nil if there is none.
func (e *Engine) Kind(name string) *resolve.Kind { return e.Resolver.Rules().Kind(name) }

// EnsureKind reloads the rules if kind is missing from them, which happens when another process has just created it.
func (e *Engine) EnsureKind(ctx context.Context, kind string) error {
	if e.Kind(kind) != nil {
		return nil
	}
	if err := e.Resolver.Reload(ctx); err != nil {
		return fmt.Errorf("%w: what is kind %s: %w", ErrUnavailable, kind, err)
	}
	if e.Kind(kind) == nil {
		return fmt.Errorf("%w: the rules do not have kind %s yet", ErrUnavailable, kind)
	}
	return nil
}

// UnknownKind returns the error for a kind that does not exist; it lists the existing kinds.
func (e *Engine) UnknownKind(name string) *problem.InvalidError {
	var names []string
	for _, k := range e.Resolver.Rules().Kinds() {
		names = append(names, k.Matcher.Schema().Kind)
	}
	return problem.Invalid("/kind", "unknown_kind", "unknown kind %.64q: want %s", name, strings.Join(names, ", "))
}

// Normalise returns the normalised form of a record, which comparisons use.
func (e *Engine) Normalise(rec *entity.Record) *match.Record {
	return e.Kind(rec.Kind).Matcher.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
}

// Later logs and drops an ErrUnavailable if other processes share the cells, because the work can be done later; it
// returns any other error.
func (e *Engine) Later(err error, what string) error {
	if !errors.Is(err, ErrUnavailable) || e.Alone() {
		return err
	}
	e.Logger.Warn(what, "err", err)
	return nil
}

// migrations counts the goroutines of this process that are continuing a migration of a kind.
type migrations struct{ n atomic.Int32 }

func (s *migrations) under() bool { return s.n.Load() > 0 }

// Migrating registers the caller as continuing a migration of a kind, so that the maintenance loop does not, until end
// is called.
func (e *Engine) Migrating() (end func()) {
	e.migrations.n.Add(1)
	return func() { e.migrations.n.Add(-1) }
}

// OwnMetrics is the name prefix of the metrics that Locus keeps about itself. Every caller may read them; only Locus
// adds to them.
const OwnMetrics = "locus."

// Metrics that Locus keeps about itself.
const (
	OwnRecords = OwnMetrics + "records" // records received and durable, changed or not
	OwnCreated = OwnMetrics + "created" // new records that are the first of their entity
	OwnMatched = OwnMetrics + "matched" // new records that joined others
	OwnRefused = OwnMetrics + "refused" // records refused or not written
	OwnMerges  = OwnMetrics + "merges"  // merges of entities
	OwnSplits  = OwnMetrics + "splits"
	OwnHits    = OwnMetrics + "hits"   // hits that became durable, each by its amount
	OwnErrors  = OwnMetrics + "errors" // responses with status 5xx
)
