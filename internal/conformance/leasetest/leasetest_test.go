// SPDX-License-Identifier: Apache-2.0

package leasetest_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/leasetest"
	"github.com/locus-db/locus/lease"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// shelf keeps leases in memory, with at most one planted bug.
type shelf struct {
	leases map[string]lease.Lease
	bug    string
	// others is shared by concurrent transactions, to simulate missing locks.
	others *others
}

// others returns to every second reader the result of the previous one.
type others struct {
	mu   sync.Mutex
	n    int
	last lease.Lease
}

func (s *shelf) Lease(_ context.Context, name string) (lease.Lease, error) {
	l := s.leases[s.name(name)]
	if s.bug == "readers do not wait" {
		s.others.mu.Lock()
		defer s.others.mu.Unlock()
		if s.others.n++; s.others.n%2 == 0 {
			return s.others.last, nil
		}
		s.others.last = l
	}
	return l, nil
}

func (s *shelf) name(name string) string {
	switch s.bug {
	case "names fold":
		return strings.ToLower(name)
	case "names are trimmed":
		return strings.TrimSpace(name)
	case "one lease for all":
		return ""
	}
	return name
}

func (s *shelf) PutLease(_ context.Context, name string, l lease.Lease) error {
	switch s.bug {
	case "milliseconds":
		l.TTL = l.TTL.Truncate(time.Millisecond)
	case "owners of ASCII":
		l.Owner = strings.ToValidUTF8(strings.Map(func(r rune) rune { return r & 0x7f }, l.Owner), "")
	case "numbers of 53 bits":
		l.Token = int64(float64(l.Token>>10)) << 10
	case "wanted is forgotten":
		l.Wanted = false
	case "the fence is forgotten":
		l.Fence = 0
	case "a lease without owner goes":
		if l.Owner == "" {
			delete(s.leases, s.name(name))
			return nil
		}
	case "written once":
		if _, there := s.leases[name]; there {
			return nil
		}
	}
	s.leases[s.name(name)] = l
	return nil
}

func open(_ *testing.T, bug string) leasetest.Update {
	o := &others{}
	m := conformance.NewMemory(
		func() *shelf { return &shelf{map[string]lease.Lease{}, bug, o} },
		func(s *shelf) *shelf { return &shelf{maps.Clone(s.leases), s.bug, s.others} }, bug)
	return func(_ context.Context, fn func(lease.Store) error) error {
		return m.Update(func(s *shelf) error { return fn(s) })
	}
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	leasetest.Run(t, func(t *testing.T) leasetest.Update { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case intended for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	leasetest.Cases.FindsEveryBug(t, open, conformance.Bugs{ByCase: map[string]string{
		"names fold":                 "NamesAreApart",
		"names are trimmed":          "NamesAreApart",
		"one lease for all":          "NamesAreApart",
		"milliseconds":               "KeepsEverything",
		"owners of ASCII":            "KeepsEverything",
		"numbers of 53 bits":         "KeepsEverything",
		"wanted is forgotten":        "KeepsEverything",
		"the fence is forgotten":     "KeepsEverything",
		"a lease without owner goes": "KeepsEverything",
		"written once":               "SeesItsOwnWrites",
		"rollback keeps rows":        "RollbackLeavesNothing",
		"error is swallowed":         "RollbackLeavesNothing",
		"readers do not wait":        "NobodyElseChangesIt",
	}})
}
