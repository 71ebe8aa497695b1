// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
)

// manager runs the sinks of an installation in one process: a runner for each that is not paused.
type manager struct {
	h       *Handle
	runners *running.Runners[Definition, *sink.Runner]
	before  map[string]sink.Stats // of runners that have ended
}

func manage(h *Handle) *manager {
	m := &manager{h: h, before: map[string]sink.Stats{}}
	m.runners = running.Start(running.Options[Definition, *sink.Runner]{
		List: h.catalog.Wanted, Wake: h.catalog.Wake, New: m.runner, Failed: m.failed,
		Unread: func(err error) { h.engine.Logger.Warn("sink definitions unreadable", "err", err) },
		Ended: func(name string, r *sink.Runner) {
			last, before := r.Stats(), m.before[name]
			m.before[name] = sink.Stats{Delivered: before.Delivered + last.Delivered, Failed: before.Failed + last.Failed}
		},
	})
	return m
}

func (m *manager) runner(d Definition) *sink.Runner {
	h := m.h
	_, driver, err := sink.ParseURL(d.To)
	if err != nil {
		h.engine.Logger.Warn("sink cannot run in this process", "sink", d.Name, "err", err)
	}
	var changes func(ctx context.Context) (sink.ChangeSink, error)
	if d.Feed == Changes {
		changes = func(ctx context.Context) (sink.ChangeSink, error) {
			spec, driver, err := h.spec(&d)
			if err != nil {
				return nil, err
			}
			return driver.Changes(ctx, spec)
		}
	}
	return sink.New(sink.Options{
		OpenChanges: changes,
		Name:        d.Name, Source: h.changes.Source(), Open: func(ctx context.Context) (sink.Sink, error) {
			return h.openTarget(ctx, &d)
		},
		Store: &store{h: h, name: d.Name, revision: d.Revision}, Kind: d.Kind, Adopt: d.Adopt,
		Above: d.Above, Lanes: driver.Lanes, Batch: driver.Batch,
		Logger: h.engine.Logger, Tracer: h.engine.Tracer, Now: h.engine.Now,
		Lease: running.Lease(h.engine, sink.LeaseName(d.Name), h.catalog.Owner),
	})
}

// openTarget opens the target of a definition with its secret.
func (h *Handle) openTarget(ctx context.Context, d *Definition) (sink.Sink, error) {
	spec, driver, err := h.spec(d)
	if err != nil {
		return nil, err
	}
	return driver.Open(ctx, spec)
}

// spec returns the part of a definition that a driver needs, and the driver.
func (h *Handle) spec(d *Definition) (spec sink.Spec, driver sink.Driver, err error) {
	u, driver, err := sink.ParseURL(d.To)
	if err != nil {
		return spec, driver, err
	}
	spec = sink.Spec{Name: d.Name, URL: u, Files: h.opts.Files, UnsafeDurability: h.opts.UnsafeDurability}
	if d.SecretEnv != "" {
		value, err := h.opts.Secret(d.SecretEnv, u)
		if err != nil {
			return spec, driver, err
		}
		spec.Secret = secret.New(value)
	}
	for _, k := range h.engine.Resolver.Rules().Kinds() {
		schema := k.Matcher.Schema()
		if d.Kind != "" && schema.Kind != d.Kind {
			continue
		}
		for _, a := range schema.Attributes {
			if !a.Many && !slices.Contains(spec.Attributes, a.Name) {
				spec.Attributes = append(spec.Attributes, a.Name)
			}
		}
	}
	return spec, driver, nil
}

// failed pauses a sink that cannot go on and records why.
func (m *manager) failed(ctx context.Context, w running.Wanted[Definition], why error) {
	if errors.Is(why, running.ErrChanged) {
		return
	}
	m.h.engine.Logger.Error("sink paused", "sink", w.Name, "err", why)
	reason := strings.TrimPrefix(why.Error(), sink.ErrStop.Error()+": ")
	if err := m.h.catalog.Pause(ctx, w, reason); err != nil {
		m.h.engine.Logger.Warn("failing sink could not be paused", "sink", w.Name, "err", err)
	}
}

func (m *manager) stats() map[string]sink.Stats {
	all := map[string]sink.Stats{}
	m.runners.Each(func(name string, r *sink.Runner) {
		s := r.Stats()
		s.Delivered += m.before[name].Delivered
		s.Failed += m.before[name].Failed
		all[name] = s
	})
	return all
}
