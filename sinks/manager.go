// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
)

const (
	// reviewEvery is how often the catalogue is read.
	reviewEvery = time.Second
	// ttl is how long an owner may be silent before another process takes over.
	ttl = 5 * time.Second
)

// manager runs the sinks of an installation in one process: a runner for each that is not paused.
type manager struct {
	h      *Handle
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	running map[string]*running
	before  map[string]sink.Stats // of runners that have ended
}

// running is a sink that this process delivers to, or waits to.
type running struct {
	revision int64
	runner   *sink.Runner
	cancel   context.CancelFunc
	ended    chan struct{}
}

func manage(h *Handle) *manager {
	ctx, cancel := context.WithCancel(context.Background())
	m := &manager{h: h, cancel: cancel, running: map[string]*running{}, before: map[string]sink.Stats{}}
	m.done.Go(func() { m.run(ctx) })
	return m
}

func (m *manager) stop() {
	m.cancel()
	m.done.Wait()
}

func (m *manager) run(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		all, err := m.h.List(ctx)
		if err == nil {
			m.review(ctx, all)
		} else if !failed && ctx.Err() == nil {
			m.h.engine.Logger.Warn("the list of sinks cannot be read", "err", err)
		}
		failed = err != nil
		engine.Sleep(ctx, reviewEvery, m.h.wake)
	}
	m.end(func(string, *running) bool { return true })
}

// review starts and ends runners as the definitions say.
func (m *manager) review(ctx context.Context, all []Status) {
	want := map[string]int64{}
	for _, s := range all {
		if !s.Paused {
			want[s.Name] = s.Revision
		}
	}
	m.end(func(name string, r *running) bool { return want[name] != r.revision || r.over() })
	m.mu.Lock()
	missing := slices.DeleteFunc(all, func(s Status) bool { return s.Paused || m.running[s.Name] != nil })
	m.mu.Unlock()
	for _, s := range missing {
		m.start(ctx, s.Definition)
	}
}

func (r *running) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// end ends runners and waits for that.
func (m *manager) end(which func(name string, r *running) bool) {
	m.mu.Lock()
	ending := map[string]*running{}
	for name, r := range m.running {
		if which(name, r) {
			ending[name] = r
			r.cancel()
		}
	}
	m.mu.Unlock()
	for name, r := range ending {
		<-r.ended
		m.mu.Lock()
		last, before := r.runner.Stats(), m.before[name]
		m.before[name] = sink.Stats{Delivered: before.Delivered + last.Delivered, Failed: before.Failed + last.Failed}
		delete(m.running, name)
		m.mu.Unlock()
	}
}

func (m *manager) start(ctx context.Context, d Definition) {
	h := m.h
	ctx, cancel := context.WithCancel(ctx)
	r := &running{revision: d.Revision, cancel: cancel, ended: make(chan struct{})}
	runs := func(how func(context.Context, func(storage.Tx) error) error) func(context.Context, func(lease.Store) error) error {
		return func(ctx context.Context, fn func(lease.Store) error) error {
			return how(ctx, func(tx storage.Tx) error { return fn(tx) })
		}
	}
	authority := h.engine.Map().Authority
	_, driver, err := sink.ParseURL(d.To)
	if err != nil {
		h.engine.Logger.Warn("this process cannot run a sink", "sink", d.Name, "err", err)
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
	r.runner = sink.New(sink.Options{
		OpenChanges: changes,
		Name:        d.Name, Source: h.changes.Source(), Open: func(ctx context.Context) (sink.Sink, error) { return h.openTarget(ctx, &d) },
		Store: &store{h: h, name: d.Name, revision: d.Revision}, TTL: ttl, Kind: d.Kind, Adopt: d.Adopt, Above: d.Above, Lanes: driver.Lanes, Batch: driver.Batch,
		Logger: h.engine.Logger, Tracer: h.engine.Tracer, Now: h.engine.Now,
		Lease: lease.NewHolder(lease.Options{
			Name: sink.LeaseName(d.Name), Owner: h.owner, TTL: ttl, Now: time.Now,
			Update: runs(func(ctx context.Context, fn func(storage.Tx) error) error {
				return h.engine.Update(ctx, authority(), fn)
			}),
			View: runs(func(ctx context.Context, fn func(storage.Tx) error) error { return h.engine.View(ctx, authority(), fn) }),
		}),
	})
	m.mu.Lock()
	m.running[d.Name] = r
	m.mu.Unlock()
	m.done.Go(func() {
		defer close(r.ended)
		if err := r.runner.Run(ctx); err != nil && !errors.Is(err, errChanged) {
			m.pause(ctx, &d, err)
		}
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

// spec returns what a driver needs to know of a definition, and the driver.
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

// pause records why a sink cannot go on.
func (m *manager) pause(ctx context.Context, d *Definition, why error) {
	m.h.engine.Logger.Error("a sink is paused", "sink", d.Name, "err", why)
	if err := m.h.alter(ctx, func(_ storage.Tx, c *catalog) error {
		if now := c.find(d.Name); now != nil && now.Revision == d.Revision {
			now.Paused, now.Reason, now.Revision = true, strings.TrimPrefix(why.Error(), sink.ErrStop.Error()+": "), c.Revision
		}
		return nil
	}); err != nil {
		m.h.engine.Logger.Warn("a sink that cannot go on is not paused", "sink", d.Name, "err", err)
	}
}

func (m *manager) stats() map[string]sink.Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]sink.Stats, len(m.running))
	for name, r := range m.running {
		s := r.runner.Stats()
		s.Delivered += m.before[name].Delivered
		s.Failed += m.before[name].Failed
		all[name] = s
	}
	return all
}
