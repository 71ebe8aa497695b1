// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"net/url"
	"slices"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/storage"
)

// ErrUnable means that this program has no way to map messages: it reads no streams and creates none.
var ErrUnable = problem.Class(problem.ErrInvalid, "locus: this process cannot read streams: set Options.Sources")

// Mapper makes operations of rows. It is used by one goroutine.
type Mapper interface {
	// Map returns the operation of a row. The error is the reason to refuse it.
	Map(row source.Row) (source.Op, error)
}

// Options configure how a process reads streams.
type Options struct {
	// Compile makes a Mapper of a mapping file, which may be "", for the records of a source. The first of the kinds is
	// the default one. Required.
	Compile func(mapping, name string, kinds []*match.Schema) (Mapper, error)
	// DefineOnly creates and changes sources, and reads none: for commands.
	DefineOnly bool
	// Secret returns the secret that a definition names. The error is the reason why the host of the URL must not get
	// it. Defaults to the value of the environment variable, for any host.
	Secret func(name string, to *url.URL) (value string, err error)
}

// Handle creates, lists and changes the streams that an installation reads: DB.Sources of package locus. It is safe for
// concurrent use.
type Handle struct {
	engine  *engine.Engine
	records *records.Handle
	opts    Options
	catalog *running.Catalog[Definition]
	manager *manager
}

// Open returns the handle of an installation. With options, and unless the installation is read-only, it starts to read
// the streams. owner is the name of the process in leases.
func Open(e *engine.Engine, r *records.Handle, owner string, o *Options) *Handle {
	h := &Handle{engine: e, records: r, catalog: running.NewCatalog(rows, e, owner)}
	if o != nil {
		h.opts = *o
	}
	if h.opts.Secret == nil {
		h.opts.Secret = running.FromEnvironment
	}
	if o != nil && !o.DefineOnly && !e.ReadOnly {
		h.manager = manage(h)
	}
	return h
}

// Close stops reading. Messages that are not durable are read again.
func (h *Handle) Close() {
	if h.manager != nil {
		h.manager.runners.Stop()
	}
}

func (h *Handle) able() error {
	if h.opts.Compile == nil {
		return ErrUnable
	}
	return nil
}

func (h *Handle) schemas() (all []*match.Schema) {
	for _, k := range h.engine.Resolver.Rules().Kinds() {
		all = append(all, k.Matcher.Schema())
	}
	return all
}

// Status is the state of a stream.
type Status struct {
	Definition
	source.Progress
	// Owner is the process that reads it, "" if none does.
	Owner string
}

// List returns all streams, by name.
func (h *Handle) List(ctx context.Context) ([]Status, error) {
	return running.List(ctx, h.catalog, status)
}

// Get returns one stream. The error is ErrNotFound if there is none.
func (h *Handle) Get(ctx context.Context, name string) (*Status, error) {
	return running.Get(ctx, h.catalog, name, status)
}

func status(ctx context.Context, tx storage.Tx, d Definition) (*Status, error) {
	p, err := running.Read[source.Progress](ctx, tx, progressName(d.Name))
	if err != nil {
		return nil, err
	}
	l, err := tx.Lease(ctx, source.LeaseName(d.Name))
	return &Status{Definition: d, Progress: p, Owner: l.Owner}, err
}

// Running returns the streams that this process reads, by name.
func (h *Handle) Running() map[string]source.Stats {
	if h.manager == nil {
		return nil
	}
	return h.manager.stats()
}

// Dead returns the dead letters of a source, in the order of the stream. The error is ErrNotFound if there is no such
// source.
func (h *Handle) Dead(ctx context.Context, name string) (letters []source.Letter, err error) {
	err = h.catalog.View(ctx, func(tx storage.Tx) error {
		letters, err = deadOf(ctx, tx, name)
		return err
	})
	return letters, err
}

func deadOf(ctx context.Context, tx storage.Tx, name string) ([]source.Letter, error) {
	if _, err := rows.Get(ctx, tx, name); err != nil {
		return nil, err
	}
	return running.Read[[]source.Letter](ctx, tx, deadName(name))
}

// Retry lets the owner of a source read messages of dead letters again: those at the given positions, or all if none is
// given. It returns how many. A letter whose message is refused again stays.
func (h *Handle) Retry(ctx context.Context, name string, at ...source.At) (n int, err error) {
	return h.letters(ctx, name, at, func(l *source.Letter) (keep bool) { l.Again = true; return true })
}

// Drop removes dead letters as Retry selects them, and returns how many.
func (h *Handle) Drop(ctx context.Context, name string, at ...source.At) (n int, err error) {
	return h.letters(ctx, name, at, func(*source.Letter) bool { return false })
}

func (h *Handle) letters(ctx context.Context, name string, at []source.At,
	do func(*source.Letter) (keep bool)) (n int, err error) {
	err = h.catalog.Update(ctx, func(tx storage.Tx) error {
		letters, err := deadOf(ctx, tx, name)
		if err != nil {
			return err
		}
		n = 0
		left := letters[:0:0]
		for _, l := range letters {
			if len(at) > 0 && !slices.Contains(at, l.At) {
				left = append(left, l)
				continue
			}
			n++
			if do(&l) {
				left = append(left, l)
			}
		}
		if n == 0 {
			return nil
		}
		p, err := running.Read[source.Progress](ctx, tx, progressName(name))
		if err != nil {
			return err
		}
		p.Dead = len(left)
		if err := running.Put(ctx, tx, progressName(name), p); err != nil {
			return err
		}
		return running.Put(ctx, tx, deadName(name), left)
	})
	return n, err
}
