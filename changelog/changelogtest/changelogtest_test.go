// SPDX-License-Identifier: Apache-2.0

package changelogtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changelog/changelogtest"
	"github.com/locus-db/locus/conformance"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// log is the model with at most one mistake that a backend could make.
type log struct {
	changelog.Store
	bug string
}

func (l log) Append(ctx context.Context, changes []changelog.Change) error {
	switch {
	case l.bug == "empty appends fail" && len(changes) == 0:
		return fmt.Errorf("no rows")
	case l.bug == "long batches are cut" && len(changes) > 999:
		changes = changes[:999]
	case l.bug == "the context is not asked":
		ctx = context.Background()
	}
	return l.Store.Append(ctx, changes)
}

func (l log) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	switch l.bug {
	case "after is included":
		after--
	case "limit is not kept":
		limit = 1 << 20
	}
	changes, err := l.Store.Changes(ctx, after, limit)
	for i := range changes {
		c := &changes[i]
		switch l.bug {
		case "numbers stand still":
			c.Seq = 1
		case "seconds only":
			c.Time = c.Time.Truncate(time.Second)
		case "local time":
			c.Time = c.Time.In(time.FixedZone("", 3600))
		case "successors are lost":
			c.Into = locality.ID{}
		case "numbers of 53 bits":
			c.Before = slices.Clone(c.Before)
			for k := range c.Before {
				c.Before[k].PUID = entity.PUID(float64(c.Before[k].PUID))
			}
		}
	}
	if l.bug == "newest first" && len(changes) > 1 {
		changes[0], changes[1] = changes[1], changes[0]
	}
	return changes, err
}

func open(_ *testing.T, bug string) changelogtest.Cell {
	return changelogtest.Memory(func(s changelog.Store) changelog.Store { return log{s, bug} }, bug)
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	changelogtest.Run(t, func(t *testing.T) changelogtest.Cell { t.Helper(); return open(t, "") })
}

func TestRun_SkipsReopeningByName(t *testing.T) {
	t.Parallel()
	c := open(t, "")
	c.Reopen = nil
	if v := changelogtest.Cases.VerdictOf("SurvivesReopening", c); v.Failed || !strings.Contains(v.Log, "Cell.Reopen") {
		t.Errorf("a cell that cannot be reopened: %+v", v)
	}
}

// TestRun_FindsEveryBug plants one mistake after the other; each must be found by the case that is
// there for it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	changelogtest.Cases.FindsEveryBug(t, open, conformance.Bugs{
		ByCase: map[string]string{
			"empty appends fail":       "EmptyLog",
			"long batches are cut":     "ThousandChanges",
			"after is included":        "InPages",
			"limit is not kept":        "InPages",
			"numbers stand still":      "NumbersRise",
			"seconds only":             "ComeBackWhole",
			"local time":               "ComeBackWhole",
			"successors are lost":      "ComeBackWhole",
			"numbers of 53 bits":       "ComeBackWhole",
			"newest first":             "NumbersRise",
			"rollback keeps rows":      "RollbackLeavesNothing",
			"error is swallowed":       "RollbackLeavesNothing",
			"nothing is kept":          "SurvivesReopening",
			"the context is not asked": "CancelledContext",
		},
		ByModel: []string{
			"after is included", "limit is not kept", "successors are lost", "newest first", "rollback keeps rows",
			"error is swallowed",
		},
		Tries: 1,
	})
}
