// SPDX-License-Identifier: Apache-2.0

package audittest_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/audittest"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// shelf keeps rows in memory, with at most one planted bug.
type shelf struct {
	rows []audit.Row
	bug  string
}

var errKept = errors.New("the row is kept")

func (s *shelf) find(p audit.Position) int {
	return slices.IndexFunc(s.rows, func(r audit.Row) bool { return r.Chain == p.Chain && r.Seq == p.Seq })
}

func (s *shelf) PutAudit(_ context.Context, rows []audit.Row) error {
	for _, r := range rows {
		i := s.find(r.Position)
		switch {
		case i < 0 || s.bug == "rows twice":
			s.rows = append(s.rows, r)
		case s.rows[i] == r:
		case s.bug == "replaces":
			s.rows[i] = r
		case s.bug == "changes of times are ignored" && s.rows[i].Body == r.Body:
		default:
			return errKept
		}
	}
	slices.SortFunc(s.rows, func(a, b audit.Row) int { return s.order(a.Position, b.Position) })
	return nil
}

func (s *shelf) order(a, b audit.Position) int {
	if s.bug == "ordered by chain" {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Seq, b.Seq))
	}
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Seq, b.Seq))
}

func (s *shelf) AuditAfter(_ context.Context, after audit.Position, limit int) (found []audit.Row, _ error) {
	for _, r := range s.rows {
		c := s.order(r.Position, after)
		if s.bug == "pages by time only" {
			c = cmp.Compare(r.At, after.At)
		}
		if c > 0 && len(found) < limit {
			found = append(found, r)
		}
	}
	return found, nil
}

func (s *shelf) AuditBefore(_ context.Context, before audit.Position, limit int) (found []audit.Row, _ error) {
	for _, r := range slices.Backward(s.rows) {
		if s.order(r.Position, before) < 0 && len(found) < limit {
			found = append(found, r)
		}
	}
	if s.bug == "the oldest first" {
		slices.Reverse(found)
	}
	return found, nil
}

func (s *shelf) DropAudit(_ context.Context, rows []audit.Position) error {
	for _, p := range rows {
		i := s.find(p)
		switch {
		case i < 0:
		case s.bug == "drops nothing":
		case s.bug != "drops everything" && time.Since(time.UnixMilli(s.rows[i].At)) < audit.Keep:
			return errKept
		default:
			s.rows = slices.Delete(s.rows, i, i+1)
		}
	}
	return nil
}

func open(_ *testing.T, bug string) audittest.Update {
	m := conformance.NewMemory(
		func() *shelf { return &shelf{bug: bug} },
		func(s *shelf) *shelf { return &shelf{slices.Clone(s.rows), s.bug} }, bug)
	return func(_ context.Context, fn func(audit.Store) error) error {
		return m.Update(func(s *shelf) error { return fn(s) })
	}
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(t *testing.T) audittest.Update { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case intended for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	audittest.Cases.FindsEveryBug(t, open, conformance.Bugs{ByCase: map[string]string{
		"rows twice":                   "KeepsRows",
		"ordered by chain":             "ReadsPages",
		"pages by time only":           "ReadsPages",
		"the oldest first":             "ReadsPages",
		"replaces":                     "RefusesChanges",
		"changes of times are ignored": "RefusesChanges",
		"drops everything":             "RefusesChanges",
		"drops nothing":                "DropsOldRows",
		"rollback keeps rows":          "RollbackLeavesNothing",
		"error is swallowed":           "RollbackLeavesNothing",
	}})
}
