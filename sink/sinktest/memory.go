// SPDX-License-Identifier: Apache-2.0

package sinktest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

// Memory is a target in memory, the model of one. The zero value stores no positions and is ready to use.
type Memory struct {
	// Keeps makes it store positions, and refuse tokens lower than the highest that it has seen.
	Keeps bool

	mu     sync.Mutex
	events map[locality.ID]sink.Event
	token  int64
	at     sink.Position
}

// Position implements sink.Sink.
func (m *Memory) Position(context.Context) (sink.Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.Keeps {
		return sink.Position{}, sink.ErrNoPosition
	}
	return m.at, nil
}

// Deliver implements sink.Sink.
func (m *Memory) Deliver(_ context.Context, b sink.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Keeps && b.Token < m.token {
		return fmt.Errorf("%w: %d, this one has %d", sink.ErrFenced, m.token, b.Token)
	}
	if m.events == nil {
		m.events = map[locality.ID]sink.Event{}
	}
	for _, e := range b.Events {
		if e.Rev > m.events[e.ID].Rev {
			m.events[e.ID] = e
		}
	}
	if !m.Keeps {
		return nil
	}
	for id, e := range m.events {
		if e.Rev < b.Sweep {
			m.events[id] = sink.Event{ID: id, Rev: b.Sweep, Op: sink.Delete}
		}
	}
	m.token = b.Token
	if b.Position != nil {
		m.at = *b.Position
	}
	return nil
}

// Read implements sink.Reader.
func (m *Memory) Read(_ context.Context, ids []locality.ID, fn func(sink.Held) error) error {
	for _, e := range m.Events() {
		if ids != nil && !slices.Contains(ids, e.ID) {
			continue
		}
		if err := fn(sink.HeldOf(&e)); err != nil {
			return err
		}
	}
	return nil
}

// Spoil changes the content of the target, as another program would: an event with op "" is removed.
func (m *Memory) Spoil(e sink.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Op == "" {
		delete(m.events, e.ID)
		return
	}
	m.events[e.ID] = e
}

// Close implements sink.Sink.
func (m *Memory) Close() error { return nil }

// Get returns the event with the highest rev of an ID, the zero Event if there is none.
func (m *Memory) Get(id locality.ID) sink.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.events[id]
}

// Events returns the event with the highest rev of each ID, in the order of the IDs.
func (m *Memory) Events() []sink.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.events), func(a, b sink.Event) int { return a.ID.Compare(b.ID) })
}

// Store is a sink.Store in memory for one sink. The zero value has no progress.
type Store struct {
	mu       sync.Mutex
	progress sink.Progress
	asked    []sink.Request
	token    int64
}

// SetToken sets the current token of the lease: Save refuses others. 0 accepts all.
func (s *Store) SetToken(token int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Ask adds a request.
func (s *Store) Ask(r sink.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
}

// Load implements sink.Store.
func (s *Store) Load(context.Context) (sink.Progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.progress, nil
}

// Save implements sink.Store.
func (s *Store) Save(_ context.Context, token int64, p sink.Progress) ([]sink.Request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != 0 && token != s.token {
		return nil, lease.ErrLost
	}
	s.progress = p
	asked := s.asked
	s.asked = nil
	return asked, nil
}
