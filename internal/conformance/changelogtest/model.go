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
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
)

// model is a log: the change at position i has number i+1, and the first trimmed ones were trimmed.
type model struct {
	changes []changelog.Change
	trimmed int
}

var _ changelog.Store = (*model)(nil)

func (m *model) clone() *model { return &model{slices.Clone(m.changes), m.trimmed} }

func (m *model) Append(ctx context.Context, changes []changelog.Change) error {
	for _, c := range changes {
		c.Seq = changelog.Seq(len(m.changes) + 1)
		m.changes = append(m.changes, c)
	}
	return ctx.Err()
}

func (m *model) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	from := min(max(int(after), 0), len(m.changes))
	if from < m.trimmed {
		return nil, changelog.ErrTrimmed
	}
	return slices.Clone(m.changes[from:min(from+limit, len(m.changes))]), ctx.Err()
}

func (m *model) Bounds(ctx context.Context) (changelog.Bounds, error) {
	return changelog.Bounds{Trimmed: changelog.Seq(m.trimmed), Last: changelog.Seq(len(m.changes))}, ctx.Err()
}

func (m *model) Trim(ctx context.Context, upTo changelog.Seq, limit int) (int, error) {
	n := min(max(int(min(max(upTo, 0), changelog.Seq(len(m.changes))))-m.trimmed, 0), limit)
	m.trimmed += n
	return n, ctx.Err()
}

var (
	drawID       = rapid.Map(rapid.Int64Range(0, 5), id)
	drawVersions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) changelog.Version {
		return changelog.Version{PUID: entity.PUID(rapid.Int64().Draw(t, "puid")),
			Version: rapid.Int64Min(1).Draw(t, "version")}
	}), 0, 4)
	drawImage = rapid.OneOf(rapid.Just[*changelog.Image](nil), rapid.Custom(func(t *rapid.T) *changelog.Image {
		return &changelog.Image{
			Sources:    rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "sources"),
			Outcome:    rapid.SampledFrom([]string{"", changelog.OutcomeCreated, changelog.OutcomeMatched}).Draw(t, "outcome"),
			Attributes: rapid.MapOfN(rapid.String(), rapid.SliceOfN(rapid.String(), 0, 2), 0, 2).Draw(t, "attributes"),
		}
	}))
	drawChange = rapid.Custom(func(t *rapid.T) changelog.Change {
		kinds := []changelog.Kind{changelog.Put, changelog.Deleted, changelog.Assigned, changelog.Created, changelog.Changed,
			changelog.Merged, changelog.Split, changelog.Retired}
		return changelog.Change{
			Seq:  changelog.Seq(rapid.Int64().Draw(t, "seq")),
			Time: time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "time")).UTC(),
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Entity: drawID.Draw(t, "entity"),
			Into:   rapid.OneOf(rapid.Just(locality.ID{}), drawID).Draw(t, "into"),
			Before: drawVersions.Draw(t, "before"), After: drawVersions.Draw(t, "after"),
			Cause: rapid.SampledFrom([]changelog.Cause{"", changelog.CausePut, changelog.CauseDelete, changelog.CauseDecision,
				changelog.CauseRedo, changelog.CauseTerms}).Draw(t, "cause"),
			Was: drawImage.Draw(t, "was"), Is: drawImage.Draw(t, "is"),
		}
	})
)

// step is one call: an append, a read of a page after the at-th change of this history, or a trim up to that
// change.
type step struct {
	append    []changelog.Change
	trim      bool
	at, limit int
}

var drawStep = rapid.Custom(func(t *rapid.T) step {
	if rapid.Bool().Draw(t, "append") {
		return step{append: rapid.SliceOfN(drawChange, 0, 5).Draw(t, "changes")}
	}
	return step{
		trim: rapid.IntRange(0, 3).Draw(t, "trim") == 0,
		at:   rapid.IntRange(0, 20).Draw(t, "at"), limit: rapid.IntRange(1, 20).Draw(t, "limit"),
	}
})

func init() { conformance.Share(drawID, drawVersions, drawImage, drawChange, drawStep) }

// history is a model and the numbers that the store assigned: positions are the same in both, numbers are not.
type history struct {
	*model
	begin   changelog.Seq // the last number before
	numbers []changelog.Seq
}

func (h history) clone() history { return history{h.model.clone(), h.begin, slices.Clip(h.numbers)} }

func (h history) number(at int) changelog.Seq {
	if at == 0 {
		return h.begin
	}
	return h.numbers[at-1]
}

// run makes the calls on both logs.
func (h *history) run(ctx context.Context, s changelog.Store, steps []step) error {
	for i, do := range append(steps, step{limit: everything}) {
		if err := h.step(ctx, s, do); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		got, err := s.Bounds(ctx)
		if want := (changelog.Bounds{Trimmed: h.number(h.trimmed), Last: h.number(len(h.numbers))}); err != nil || got != want {
			return fmt.Errorf("call %d: the ends of the log are %+v, %w, want %+v", i, got, err, want)
		}
	}
	return nil
}

func (h *history) step(ctx context.Context, s changelog.Store, do step) error {
	at := min(do.at, len(h.changes))
	switch {
	case do.append != nil:
		last := h.number(len(h.numbers))
		if err := errors.Join(s.Append(ctx, do.append), h.Append(ctx, do.append)); err != nil {
			return err
		}
		added, err := s.Changes(ctx, last, everything)
		for _, c := range added {
			h.numbers = append(h.numbers, c.Seq)
		}
		if err != nil || len(added) != len(do.append) {
			return fmt.Errorf("%d changes were appended, and %d are there, %w", len(do.append), len(added), err)
		}
		return nil
	case do.trim:
		want, _ := h.Trim(ctx, changelog.Seq(at), do.limit)
		if got, err := s.Trim(ctx, h.number(at), do.limit); err != nil || got != want {
			return fmt.Errorf("%d changes up to the %d-th were trimmed, %w, want %d", got, at, err, want)
		}
		return nil
	}
	want, wantErr := h.Changes(ctx, changelog.Seq(at), do.limit)
	got, err := s.Changes(ctx, h.number(at), do.limit)
	if !errors.Is(err, wantErr) {
		return fmt.Errorf("changes after the %d-th: %w, want %w", at, err, wantErr)
	}
	if diff := differ(got, want); diff != "" {
		return fmt.Errorf("changes after the %d-th (-want +got):\n%s", at, diff)
	}
	return nil
}

// agreesWithModel draws transactions of appends, reads and trims, some of which roll back.
func agreesWithModel(t tester, c Cell) {
	rapid.Check(t, func(t *rapid.T) {
		begin := boundsOf(t, c).Last // end of the previous history
		trim(t, c, begin, everything)
		committed := history{model: &model{}, begin: begin}
		for range rapid.IntRange(1, 4).Draw(t, "transactions") {
			steps := rapid.SliceOfN(drawStep, 1, 5).Draw(t, "steps")
			rollback, h := rapid.Bool().Draw(t, "rollback"), committed
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, s changelog.Store) error {
				h = committed.clone()
				return h.run(ctx, s, steps)
			})
			if !rollback {
				committed = h
			}
		}
		wantChanges(t, changesAfter(t, c, committed.number(committed.trimmed), everything),
			committed.changes[committed.trimmed:])
	})
}
