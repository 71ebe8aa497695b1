// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/locus-db/locus/cell"
)

// Memory is a driver of databases in memory. They are named by their URLs and kept as long as the Memory; any number of
// installations can open them any number of times, like separate processes. It passes the suites, and injects faults on
// request. It is for tests of code that uses cells; the zero value has no databases.
//
//	memory := &celltest.Memory{}
//	cells, err := cell.OpenCells(ctx, cell.CellsOptions[cell.Store]{
//		Authority: "mem:g0-0", Driver: memory.Driver,
//		New: &cell.Spec{Generations: []cell.Generation{{Cells: 4, URLs: []string{"mem:g{g}-{i}"}}}},
//	})
type Memory struct {
	mu        sync.Mutex
	databases map[string]*database
	down      map[string]bool
	hook      func(context.Context, Step) error
	opened    atomic.Int64
}

// Step is a point in the work of a database at which it may be made to wait or fail.
type Step struct {
	URL  string
	Do   string // dial, identify, update, exclusive, view
	When When
}

// When is the time of a Step.
type When string

// An update or exclusive has all of these steps, all other operations only Begins.
const (
	Begins  When = "begins"  // nothing was done yet, and nothing is locked
	Commits When = "commits" // the commit is next; the cell is locked
	Replies When = "replies" // the commit is done; an error is ErrCommitUnknown
)

// Driver returns m for every URL, as CellsOptions.Driver.
func (m *Memory) Driver(string) (cell.Driver[cell.Store], error) { return m, nil }

// Hook sets a function that is called at every step of every database. It may block; its result is the error of the
// step.
func (m *Memory) Hook(hook func(context.Context, Step) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hook = hook
}

// Down makes a database unavailable, or available again.
func (m *Memory) Down(url string, down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down == nil {
		m.down = map[string]bool{}
	}
	m.down[url] = down
}

// Save copies a database, like a backup, and returns a function that restores the copy.
func (m *Memory) Save(url string) (restore func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	db := m.databases[url]
	saved := db.now.Load()
	return func() { db.now.Store(saved) }
}

// Clone copies a database to another URL, like restoring its backup elsewhere.
func (m *Memory) Clone(from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	db := &database{url: to, write: semaphore.NewWeighted(1)}
	db.now.Store(m.databases[from].now.Load())
	m.databases[to] = db
}

// Lose deletes a database.
func (m *Memory) Lose(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.databases, url)
}

// URLs returns the URLs of all databases, in no particular order.
func (m *Memory) URLs() (urls []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for url := range m.databases {
		urls = append(urls, url)
	}
	return urls
}

// Opened returns how many database handles are open.
func (m *Memory) Opened() int { return int(m.opened.Load()) }

// step returns an error if the database is down or the hook returns one.
func (m *Memory) step(ctx context.Context, s Step) error {
	m.mu.Lock()
	down, hook := m.down[s.URL], m.hook
	m.mu.Unlock()
	if err := ctx.Err(); err != nil && s.When != Replies {
		return err
	}
	if down {
		return fmt.Errorf("%s: %w: it was told to be down", s.URL, cell.ErrUnavailable)
	}
	if hook == nil {
		return nil
	}
	return hook(ctx, s)
}

// Check accepts every URL.
func (m *Memory) Check(string) error { return nil }

// Dial opens the database of a URL.
func (m *Memory) Dial(ctx context.Context, url string, create bool) (cell.Opened[cell.Store], error) {
	if err := m.step(ctx, Step{url, "dial", Begins}); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	db, ok := m.databases[url]
	if !ok && !create {
		return nil, fmt.Errorf("%s: %w", url, cell.ErrMissing)
	}
	if !ok {
		db = &database{url: url, write: semaphore.NewWeighted(1)}
		db.now.Store(&state{})
		if m.databases == nil {
			m.databases = map[string]*database{}
		}
		m.databases[url] = db
	}
	m.opened.Add(1)
	return &opened{memory: m, db: db}, nil
}

// Marked returns the mark of a database.
func (m *Memory) Marked(ctx context.Context, url string) (string, error) {
	if err := m.step(ctx, Step{url, "marked", Begins}); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	db, ok := m.databases[url]
	if !ok {
		return "", fmt.Errorf("%s: %w", url, cell.ErrMissing)
	}
	return db.now.Load().mark, nil
}
