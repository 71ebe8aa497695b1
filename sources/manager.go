// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/source"
)

// returnsEvery is how often to check whether a cell was restored.
const returnsEvery = 10 * time.Second

// manager runs the sources of an installation in one process: a runner for each that is not paused.
type manager struct {
	h       *Handle
	runners *running.Runners[Definition, *source.Runner]
	before  map[string]int64 // records written by runners that have ended
	returns map[string]int   // how often each cell was restored when that was last checked
	checked time.Time
}

func manage(h *Handle) *manager {
	m := &manager{h: h, before: map[string]int64{}}
	m.runners = running.Start(running.Options[Definition, *source.Runner]{
		List: h.catalog.Wanted, Wake: h.catalog.Wake, New: m.runner, Failed: m.failed, Stale: m.restored,
		Unread: func(err error) { h.engine.Logger.Warn("source definitions unreadable", "err", err) },
		Ended:  func(name string, r *source.Runner) { m.before[name] += r.Stats().Records },
	})
	return m
}

// restored reports whether a cell was restored from a backup. A runner finds out the consequences when it begins.
func (m *manager) restored(ctx context.Context) bool {
	if time.Since(m.checked) < returnsEvery {
		return false
	}
	before := m.returns
	m.returns, m.checked = m.h.returns(ctx, before), time.Now()
	return before != nil && !maps.Equal(before, m.returns)
}

func (m *manager) runner(d Definition) *source.Runner {
	h := m.h
	decoder := &decoder{h: h, of: d}
	return source.New(source.Options{
		Name: d.Name, Open: decoder.open, Decode: decoder.decode, Target: target{h.records}, Logger: h.engine.Logger,
		Now: h.engine.Now, Tracer: h.engine.Tracer, Store: &store{h: h, name: d.Name, revision: d.Revision},
		Lease: running.Lease(h.engine, source.LeaseName(d.Name), h.catalog.Owner),
	})
}

// failed pauses a source that cannot go on and records why.
func (m *manager) failed(ctx context.Context, w running.Wanted[Definition], why error) {
	if errors.Is(why, running.ErrChanged) {
		return
	}
	m.h.engine.Logger.Error("source stream paused", "source", w.Name, "err", why)
	if err := m.h.catalog.Pause(ctx, w, why.Error()); err != nil {
		m.h.engine.Logger.Warn("failing source stream could not be paused", "source", w.Name, "err", err)
	}
}

func (m *manager) stats() map[string]source.Stats {
	all := map[string]source.Stats{}
	m.runners.Each(func(name string, r *source.Runner) {
		s := r.Stats()
		s.Records += m.before[name]
		all[name] = s
	})
	return all
}

// decoder opens the stream of a definition and maps its messages. It compiles the mapping again when kinds change.
type decoder struct {
	h      *Handle
	of     Definition
	rules  *resolve.Rules
	mapper Mapper
}

func (d *decoder) open(ctx context.Context, at source.Position) (source.Stream, error) {
	u, err := source.ParseURL(d.of.From)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", source.ErrStop, err)
	}
	spec := source.Spec{Name: d.of.Name, URL: u}
	if name := d.of.SecretEnv; name != "" {
		value, err := d.h.opts.Secret(name, u)
		if err != nil {
			return nil, err
		}
		spec.Secret = secret.New(value)
	}
	driver, err := source.DriverOf(u)
	if err != nil {
		return nil, err
	}
	return driver.Open(ctx, spec, at)
}

func (d *decoder) decode(m source.Message) (op source.Op, ok bool, err error) {
	if rules := d.h.engine.Resolver.Rules(); d.mapper == nil || rules != d.rules {
		if d.mapper, err = d.h.opts.Compile(d.of.Mapping, d.of.Name, d.h.schemas()); err != nil {
			return op, false, fmt.Errorf("%w: the mapping does not fit the kinds: %w", source.ErrStop, err)
		}
		d.rules = rules
	}
	row, ok, err := source.DecodeRow(d.of.Format, m)
	if err != nil || !ok {
		return op, false, err
	}
	if op, err = d.mapper.Map(row); err != nil {
		return op, false, err
	}
	if op.Observed.IsZero() {
		op.Observed = row.Time
	}
	op.Observed = op.Observed.UTC().Truncate(time.Millisecond)
	return op, true, nil
}
