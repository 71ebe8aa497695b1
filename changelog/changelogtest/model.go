// SPDX-License-Identifier: Apache-2.0

package changelogtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/conformance"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// model is a log: the change at position i has number i+1.
type model struct{ changes []changelog.Change }

var _ changelog.Store = (*model)(nil)

func (m *model) clone() *model { return &model{slices.Clone(m.changes)} }

func (m *model) Append(ctx context.Context, changes []changelog.Change) error {
	for _, c := range changes {
		c.Seq = changelog.Seq(len(m.changes) + 1)
		m.changes = append(m.changes, c)
	}
	return ctx.Err()
}

func (m *model) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	from := min(max(int(after), 0), len(m.changes))
	return slices.Clone(m.changes[from:min(from+limit, len(m.changes))]), ctx.Err()
}

var (
	drawID       = rapid.Map(rapid.Int64Range(0, 5), id)
	drawVersions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) changelog.Version {
		return changelog.Version{PUID: entity.PUID(rapid.Int64().Draw(t, "puid")), Version: rapid.Int64Min(1).Draw(t, "version")}
	}), 0, 4)
	drawChange = rapid.Custom(func(t *rapid.T) changelog.Change {
		kinds := []changelog.Kind{changelog.Put, changelog.Deleted, changelog.Created, changelog.Changed, changelog.Merged, changelog.Split, changelog.Retired}
		return changelog.Change{
			Seq: changelog.Seq(rapid.Int64().Draw(t, "seq")), Time: time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "time")).UTC(),
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Entity: drawID.Draw(t, "entity"),
			Into:   rapid.OneOf(rapid.Just(locality.ID{}), drawID).Draw(t, "into"),
			Before: drawVersions.Draw(t, "before"), After: drawVersions.Draw(t, "after"),
		}
	})
)

// step is one call: an append, or a read of a page that begins after the at-th of the changes of
// this history.
type step struct {
	append    []changelog.Change
	at, limit int
}

var drawStep = rapid.Custom(func(t *rapid.T) step {
	if rapid.Bool().Draw(t, "append") {
		return step{append: rapid.SliceOfN(drawChange, 0, 5).Draw(t, "changes")}
	}
	return step{at: rapid.IntRange(0, 20).Draw(t, "at"), limit: rapid.IntRange(1, 20).Draw(t, "limit")}
})

// run makes the calls on both logs. Numbers differ, positions do not: the store's log of this
// history begins after a number, the model's at its beginning.
func (m *model) run(ctx context.Context, s changelog.Store, begin changelog.Seq, steps []step) error {
	for i, do := range append(steps, step{limit: everything}) {
		if do.append != nil {
			if err := errors.Join(s.Append(ctx, do.append), m.Append(ctx, do.append)); err != nil {
				return fmt.Errorf("call %d: %w", i, err)
			}
			continue
		}
		all, err := s.Changes(ctx, begin, everything)
		if err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		at, after := min(do.at, len(m.changes)), begin
		if at > 0 && at <= len(all) {
			after = all[at-1].Seq
		}
		got, err := s.Changes(ctx, after, do.limit)
		if err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		want, _ := m.Changes(ctx, changelog.Seq(at), do.limit)
		if diff := differ(got, want); diff != "" {
			return fmt.Errorf("call %d, changes after the %d-th (-want +got):\n%s", i, at, diff)
		}
	}
	return nil
}

// agreesWithModel draws transactions of appends and reads, some of which roll back.
func agreesWithModel(t tester, c Cell) {
	var begin changelog.Seq
	rapid.Check(t, func(t *rapid.T) {
		if page := changesAfter(t, c, begin, everything); len(page) > 0 {
			begin = page[len(page)-1].Seq // where the history before ended
		}
		committed := &model{}
		for range rapid.IntRange(1, 4).Draw(t, "transactions") {
			steps := rapid.SliceOfN(drawStep, 1, 5).Draw(t, "steps")
			rollback, m := rapid.Bool().Draw(t, "rollback"), committed
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, s changelog.Store) error {
				m = committed.clone()
				return m.run(ctx, s, begin, steps)
			})
			if !rollback {
				committed = m
			}
		}
		wantChanges(t, changesAfter(t, c, begin, everything), committed.changes)
	})
}
