// SPDX-License-Identifier: Apache-2.0

package celltest_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// forgetful wraps databases and plants one bug of a driver.
type forgetful struct {
	bug string
	mu  sync.Mutex
	ids map[string]cell.Identity
	n   int
}

func openKind(_ *testing.T, bug string) celltest.Databases {
	f := &forgetful{bug: bug, ids: map[string]cell.Identity{}}
	return celltest.DatabasesOf(f.dial)
}

func (f *forgetful) dial(_ context.Context, dial func(string, bool) (celltest.Handle, error), url string, create bool) (celltest.Handle, error) {
	switch f.bug {
	case "databases are made unasked":
		create = true
	case "one database for all":
		url = "mem:one"
	case "databases are made twice":
		f.mu.Lock()
		f.n++
		url = "mem:" + string(rune('a'+f.n))
		f.mu.Unlock()
		create = true
	}
	db, err := dial(url, create)
	if err != nil {
		return nil, err
	}
	return &mistaken{Handle: db, forgetful: f, url: url}, nil
}

type mistaken struct {
	celltest.Handle
	*forgetful
	url string
}

func (m *mistaken) Identify(ctx context.Context, id cell.Identity) error {
	m.mu.Lock()
	was, knownEpoch := m.ids[m.url]
	if !knownEpoch {
		m.ids[m.url] = id
	}
	m.mu.Unlock()
	switch m.bug {
	case "nobody compares identities":
		id = m.ids[m.url]
	case "ranges are not compared":
		if knownEpoch {
			id.Lo, id.Hi = was.Lo, was.Hi
		}
	case "names stay":
		if knownEpoch {
			id.Map = was.Map
		}
	case "rules are not compared":
		if knownEpoch {
			id.Rules = was.Rules
		}
	case "the last identity counts":
		if err := m.Handle.Identify(ctx, id); !errors.Is(err, cell.ErrIdentity) {
			return err
		}
		return nil
	case "the head is left to others":
		if err := m.Handle.Identify(ctx, id); err != nil {
			return err
		}
		return m.Exclusive(ctx, func(s cell.Store) error { return s.SetHead(ctx, cell.Head{}) })
	}
	return m.Handle.Identify(ctx, id)
}

func (m *mistaken) Exclusive(ctx context.Context, fn func(cell.Store) error) error {
	if m.bug == "nobody writes without a name" {
		m.mu.Lock()
		_, knownEpoch := m.ids[m.url]
		m.mu.Unlock()
		if !knownEpoch {
			return errors.New("who am I?")
		}
	}
	if m.bug == "any map is the first" {
		return m.Handle.Exclusive(ctx, func(s cell.Store) error { return fn(first{s}) })
	}
	return m.Handle.Exclusive(ctx, fn)
}

// first is a transaction that always finds no map, and overwrites the existing one.
type first struct{ cell.Store }

func (f first) CellMap(context.Context) (uint64, []byte, error) { return 0, nil, nil }

func (f first) PutCellMap(ctx context.Context, epoch uint64, text []byte) error {
	has, _, err := f.Store.CellMap(ctx)
	return errors.Join(err, f.Store.PutCellMap(ctx, max(epoch, has+1), text))
}

func (m *mistaken) Stats(ctx context.Context) (cell.Stats, error) {
	stats, err := m.Handle.Stats(ctx)
	switch m.bug {
	case "stats without head":
		stats.Head = cell.Head{}
	case "stats count rows of others":
		stats.PUIDs += 5000
	}
	return stats, err
}

func (m *mistaken) Tidy(ctx context.Context) (bool, error) {
	more, err := m.Handle.Tidy(ctx)
	return more || m.bug == "it is never tidy", err
}

func (m *mistaken) Pulse(ctx context.Context) (cell.Pulse, error) {
	p, err := m.Handle.Pulse(ctx)
	if m.bug == "pulses stand still" {
		p.Commits = 0
	}
	return p, err
}

func (m *mistaken) Latest() (cell.Pulse, bool) {
	p, more := m.Handle.Latest()
	if m.bug == "pulses stand still" {
		p.Commits = 0
	}
	return p, more
}

func (m *mistaken) Marked(ctx context.Context) (string, error) {
	if m.bug == "marks are lost" {
		return "", nil
	}
	return m.Handle.Marked(ctx)
}

func (m *mistaken) Close() error {
	if m.bug == "closed cells go on" {
		return nil
	}
	return m.Handle.Close()
}

func TestRunDriver_FindsEveryBug(t *testing.T) {
	t.Parallel()
	celltest.DriverCases.FindsEveryBug(t, openKind, conformance.Bugs{ByCase: map[string]string{
		"databases are made unasked":   "NothingIsMadeUnasked",
		"one database for all":         "NothingIsMadeUnasked",
		"databases are made twice":     "KeepsItsRows",
		"nobody writes without a name": "KeepsAMapBeforeItHasAName",
		"the head is left to others":   "KeepsAMapBeforeItHasAName",
		"any map is the first":         "MapOfTheFirst",
		"nobody compares identities":   "OnlyOneIdentity",
		"ranges are not compared":      "OnlyOneIdentity",
		"rules are not compared":       "OnlyOneIdentity",
		"the last identity counts":     "IdentityAtOnce",
		"stats without head":           "Stats",
		"stats count rows of others":   "Stats",
		"it is never tidy":             "Tidy",
		"pulses stand still":           "Pulse",
		"marks are lost":               "Mark",
		"names stay":                   "Rename",
		"closed cells go on":           "CloseWaits",
	}})
}

func TestRunDriver_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	for _, c := range celltest.DriverCases {
		if v := celltest.DriverCases.VerdictOf(c.Name, openKind(t, "")); v.Failed {
			t.Errorf("%s: %s", c.Name, v.Log)
		}
	}
}
