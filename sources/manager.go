// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/storage"
)

const (
	// reviewEvery is how often the catalogue is read, returnsEvery how often it is checked whether a cell was restored.
	reviewEvery  = time.Second
	returnsEvery = 10 * time.Second
	// ttl is how long an owner may be silent before another process takes over.
	ttl = 5 * time.Second
)

// manager runs the sources of an installation in one process: a runner for each that is not paused.
type manager struct {
	h      *Handle
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	running map[string]*running
	before  map[string]int64 // records written by runners that have ended
}

// running is a source that this process reads or waits to read.
type running struct {
	revision int64
	runner   *source.Runner
	cancel   context.CancelFunc
	ended    chan struct{}
}

func manage(h *Handle) *manager {
	ctx, cancel := context.WithCancel(context.Background())
	m := &manager{h: h, cancel: cancel, running: map[string]*running{}, before: map[string]int64{}}
	m.done.Go(func() { m.run(ctx) })
	return m
}

func (m *manager) stop() {
	m.cancel()
	m.done.Wait()
}

func (m *manager) run(ctx context.Context) {
	returns, checked, failed := map[string]int(nil), time.Time{}, false
	for ctx.Err() == nil {
		all, err := m.h.List(ctx)
		if err == nil {
			m.review(ctx, all)
		} else if !failed && ctx.Err() == nil {
			m.h.engine.Logger.Warn("the list of sources cannot be read", "err", err)
		}
		failed = err != nil
		if len(all) > 0 && time.Since(checked) >= returnsEvery {
			now := m.h.returns(ctx, returns)
			if returns != nil && !maps.Equal(returns, now) {
				m.end("") // what runs next finds out what that means
			}
			returns, checked = now, time.Now()
		}
		engine.Sleep(ctx, reviewEvery, m.h.wake)
	}
	m.end("")
}

// review starts and ends runners as the definitions say.
func (m *manager) review(ctx context.Context, all []Status) {
	want := map[string]int64{}
	for _, s := range all {
		if !s.Paused {
			want[s.Name] = s.Revision
		}
	}
	m.mu.Lock()
	var over []string
	for name, r := range m.running {
		if revision, wanted := want[name]; !wanted || revision != r.revision || r.over() {
			over = append(over, name)
		}
	}
	m.mu.Unlock()
	for _, name := range over {
		m.end(name)
	}
	for _, s := range all {
		m.mu.Lock()
		_, runs := m.running[s.Name]
		m.mu.Unlock()
		if !s.Paused && !runs {
			m.start(ctx, s.Definition)
		}
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

// end ends a runner, "" all of them, and waits for that.
func (m *manager) end(name string) {
	m.mu.Lock()
	ending := map[string]*running{}
	for of, r := range m.running {
		if name == "" || of == name {
			ending[of] = r
			r.cancel()
		}
	}
	m.mu.Unlock()
	for of, r := range ending {
		<-r.ended
		m.mu.Lock()
		m.before[of] += r.runner.Stats().Records
		delete(m.running, of)
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
	decoder := &decoder{h: h, of: d}
	r.runner = source.New(source.Options{
		Name: d.Name, Open: decoder.open, Decode: decoder.decode, Target: target{h.records}, TTL: ttl, Logger: h.engine.Logger,
		Now: h.engine.Now, Tracer: h.engine.Tracer, Store: &store{h: h, name: d.Name, revision: d.Revision},
		Lease: lease.NewHolder(lease.Options{
			Name: source.LeaseName(d.Name), Owner: h.owner, TTL: ttl, Now: time.Now,
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
			m.pause(ctx, d, err)
		}
	})
}

// pause records why a source cannot go on.
func (m *manager) pause(ctx context.Context, d Definition, why error) {
	m.h.engine.Logger.Error("a source is paused", "source", d.Name, "err", why)
	if err := m.h.alter(ctx, func(_ storage.Tx, c *catalog) error {
		if now := c.find(d.Name); now != nil && now.Revision == d.Revision {
			now.Paused, now.Reason, now.Revision = true, why.Error(), c.Revision
		}
		return nil
	}); err != nil {
		m.h.engine.Logger.Warn("a source that cannot go on is not paused", "source", d.Name, "err", err)
	}
}

func (m *manager) stats() map[string]source.Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]source.Stats, len(m.running))
	for name, r := range m.running {
		s := r.runner.Stats()
		s.Records += m.before[name]
		all[name] = s
	}
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
