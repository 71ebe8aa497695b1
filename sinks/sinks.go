// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"errors"
	"net/url"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
)

// Options configure how a process delivers.
type Options struct {
	// Secret returns the secret that a definition names. The error is the reason why the host of the URL must not get
	// it. Defaults to the value of the environment variable, for any host.
	Secret func(name string, to *url.URL) (value string, err error)
	// Files is the directory below which sinks of the scheme file: write. Without it they fail.
	Files string
	// UnsafeDurability lets sinks deliver to databases that may lose acknowledged writes.
	UnsafeDurability bool
}

// Handle creates, lists and changes the sinks of an installation: DB.Sinks of package locus. It is safe for concurrent
// use.
type Handle struct {
	engine  *engine.Engine
	changes *changes.Handle
	opts    Options
	catalog *running.Catalog[Definition]
	manager *manager
}

// Open returns the handle of an installation. With options, and unless the installation is read-only, it starts to
// deliver. owner is the name of the process in leases.
func Open(e *engine.Engine, c *changes.Handle, owner string, o *Options) *Handle {
	h := &Handle{engine: e, changes: c, catalog: running.NewCatalog(rows, e, owner)}
	if o != nil {
		h.opts = *o
	}
	if h.opts.Secret == nil {
		h.opts.Secret = running.FromEnvironment
	}
	if o != nil && !e.ReadOnly {
		h.manager = manage(h)
	}
	return h
}

// Close stops delivering. Unacknowledged events are delivered again by the next owner.
func (h *Handle) Close() {
	if h.manager != nil {
		h.manager.runners.Stop()
	}
}

// Status is the state of a sink, without its dead letters.
type Status struct {
	Definition
	sink.Progress
	// Letters is the number of dead letters.
	Letters int
	// Owner is the process that delivers, "" if none does.
	Owner string
}

// List returns all sinks, by name.
func (h *Handle) List(ctx context.Context) ([]Status, error) {
	return running.List(ctx, h.catalog, status)
}

// Get returns one sink. The error is ErrNotFound if there is none.
func (h *Handle) Get(ctx context.Context, name string) (*Status, error) {
	return running.Get(ctx, h.catalog, name, status)
}

func status(ctx context.Context, tx storage.Tx, d Definition) (*Status, error) {
	s, err := running.Read[stored](ctx, tx, progressName(d.Name))
	if err != nil {
		return nil, err
	}
	l, err := tx.Lease(ctx, sink.LeaseName(d.Name))
	return &Status{Definition: d, Progress: s.Progress, Letters: s.Letters, Owner: l.Owner}, err
}

// Running returns the sinks that this process delivers, or waits to deliver, by name.
func (h *Handle) Running() map[string]sink.Stats {
	if h.manager == nil {
		return nil
	}
	return h.manager.stats()
}

// Dead returns the dead letters of a sink, in the order of their IDs. The error is ErrNotFound if there is no such
// sink.
func (h *Handle) Dead(ctx context.Context, name string) (letters []sink.Letter, err error) {
	err = h.catalog.View(ctx, func(tx storage.Tx) error {
		_, err := rows.Get(ctx, tx, name)
		if err == nil {
			letters, err = running.Read[[]sink.Letter](ctx, tx, deadName(name))
		}
		return err
	})
	return letters, err
}

// maxAsked limits the requests that wait for the owner of a sink.
const maxAsked = 1000

// Retry removes dead letters, those of the given IDs or all, and lets the owner of the sink read these IDs and deliver
// them again, once the sink is not paused. It returns how many there were.
func (h *Handle) Retry(ctx context.Context, name string, ids ...locality.ID) (n int, err error) {
	return h.ask(ctx, name, false, ids)
}

// Drop removes dead letters, those of the given IDs or all, and returns how many there were.
func (h *Handle) Drop(ctx context.Context, name string, ids ...locality.ID) (n int, err error) {
	return h.ask(ctx, name, true, ids)
}

func (h *Handle) ask(ctx context.Context, name string, drop bool, ids []locality.ID) (n int, err error) {
	if len(ids) == 0 {
		ids = []locality.ID{{}}
	}
	err = h.catalog.Update(ctx, func(tx storage.Tx) error {
		if _, err := rows.Get(ctx, tx, name); err != nil {
			return err
		}
		s, letters, asked, err := readRows(ctx, tx, name)
		if err != nil {
			return err
		}
		s.Progress.Dead, n = letters, len(letters)
		for _, id := range ids {
			r := sink.Request{ID: id, Drop: drop}
			s.Progress.Apply(r)
			asked = append(asked, r)
		}
		if len(asked) > maxAsked {
			return problem.Invalid("/ids", "invalid",
				"more than %d requests wait for the owner of the sink: leave the ids out, for all dead letters", maxAsked)
		}
		n -= len(s.Progress.Dead)
		return errors.Join(putProgress(ctx, tx, name, s), running.Put(ctx, tx, deadName(name), s.Progress.Dead),
			running.Put(ctx, tx, askedName(name), asked))
	})
	return n, err
}
