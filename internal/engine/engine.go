// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Cells are the databases of an installation, opened.
type Cells = cell.Cells[resolve.Tx]

// Engine is an opened installation. Its fields are set before it is used and do not change.
type Engine struct {
	Cells    *Cells
	Resolver *resolve.Resolver
	Keys     *cell.Directory[resolve.Tx]
	Queue    *resolve.Queue // of writes; nil if the engine is Passive
	Logger   *slog.Logger
	Now      func() time.Time
	ReadOnly bool
	// Looks is ReadOnly without catching up: the process writes nothing even if it is alone.
	Looks bool
	// Documents is the database of documents beside the cells, nil if there is none.
	Documents Documents
	// Written is called after a write with what it changed; it wakes followers. Count adds to a metric that the
	// installation keeps of itself.
	Written func()
	Count   func(metric counter.Metric, n int64)

	switching switches
}

// Map returns the cell map.
func (e *Engine) Map() *cell.Map { return e.Cells.Map() }

// Alone reports whether this process is the only one that uses the cells.
func (e *Engine) Alone() bool { return e.Cells.Alone() }

// Passive reports whether the process writes nothing at all: it was opened to look only, or to read only beside other
// processes, which do what is due.
func (e *Engine) Passive() bool { return e.Looks || e.ReadOnly && !e.Cells.Alone() }

// CheckWrites returns ErrReadOnly if the installation was opened to read only.
func (e *Engine) CheckWrites() error {
	if e.ReadOnly {
		return ErrReadOnly
	}
	return nil
}

// Schema returns the kind of that name, nil if there is none. "" is the kind of records that name none.
func (e *Engine) Schema(kind string) *match.Schema {
	if k := e.Kind(kind); k != nil {
		return k.Matcher.Schema()
	}
	return nil
}

// Kind returns the rules of a kind, nil if there is none of that name.
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

// UnknownKind returns the error for a kind that does not exist; it lists those that do.
func (e *Engine) UnknownKind(name string) *problem.InvalidError {
	var names []string
	for _, k := range e.Resolver.Rules().Kinds() {
		names = append(names, k.Matcher.Schema().Kind)
	}
	return problem.Invalid("/kind", "unknown_kind", "there is no kind %.64q: there are %s", name, strings.Join(names, ", "))
}

// Normalise returns a record as it is compared.
func (e *Engine) Normalise(rec *entity.Record) *match.Record {
	return e.Kind(rec.Kind).Matcher.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
}

// Later passes over an error which says that a cell cannot be reached, if other processes share the cells: they go on,
// and this one does later what it could not do.
func (e *Engine) Later(err error, what string) error {
	if !errors.Is(err, ErrUnavailable) || e.Alone() {
		return err
	}
	e.Logger.Warn(what, "err", err)
	return nil
}
