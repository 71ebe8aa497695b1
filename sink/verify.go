// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// Verifying compares a target with the installation.
type Verifying struct {
	Source mirror.Source
	Target Reader
	// Kind is the Kind of Options.
	Kind string
	// CaughtUp waits until the sink has delivered everything up to the current ends of the logs and all that Resend
	// asked for, and reports whether it has; not for ever.
	CaughtUp func(ctx context.Context) (bool, error)
	// Resend has IDs delivered again. Without it nothing is repaired.
	Resend func(ctx context.Context, ids []locality.ID) error
	// Progress is called now and then with the number of IDs compared. It may be nil.
	Progress func(compared int64)
}

// What is the kind of a difference.
type What string

// The kinds of differences.
const (
	Missing   What = "missing"   // the target does not have the ID
	Surplus   What = "surplus"   // the target has an ID that leads to nothing
	Different What = "different" // the target has another content
)

// Difference is an ID whose content in the target differs from the installation.
type Difference struct {
	ID   locality.ID `json:"id"`
	What What        `json:"what"`
	// Repaired reports that it was delivered again and differs no more.
	Repaired bool `json:"repaired"`
}

// Verification is the result of a comparison.
type Verification struct {
	// Compared is the number of IDs compared. Settling were left out, because their records are being resolved.
	Compared, Settling int64
	// Found are the IDs that differ, or differed until they were repaired, in order.
	Found []Difference
	// Late reports that the sink did not catch up: a difference may be on its way.
	Late bool
}

const (
	// looks is how often IDs that differ are compared again while both sides change.
	looks = 3
	// resendAtOnce is how many IDs are delivered again at a time.
	resendAtOnce = 5000
	// reportEvery is how many IDs are between two calls of Progress.
	reportEvery = 1000
)

// Run compares the target with the installation, ID by ID, while both change. Differing IDs are compared again after
// the sink has caught up, so that events in flight are not reported. The error is ErrForeign if the target belongs to
// another installation.
func (v *Verifying) Run(ctx context.Context) (*Verification, error) {
	if err := v.ours(ctx); err != nil {
		return nil, err
	}
	r := &Verification{}
	found, err := v.walk(ctx, r)
	if err != nil {
		return nil, err
	}
	for n := 0; n < looks && len(found) > 0; n++ {
		if found, err = v.again(ctx, r, found); err != nil {
			return nil, err
		}
	}
	r.Found = found
	if v.Resend != nil {
		err = v.repair(ctx, r)
	}
	r.Late = r.Late && len(r.Found) > 0
	return r, err
}

// ours returns an error if the target has the position of another installation.
func (v *Verifying) ours(ctx context.Context) error {
	at, err := v.Target.Position(ctx)
	if errors.Is(err, ErrNoPosition) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the position in the target: %w", err)
	}
	own, _, err := v.Source.Installation(ctx)
	if err == nil && at.Installation != "" && at.Installation != own {
		err = ErrForeign
	}
	return err
}

// walk compares everything once.
func (v *Verifying) walk(ctx context.Context, r *Verification) (found []Difference, err error) {
	next, stop := iter.Pull2(mirror.All(ctx, v.Source))
	defer stop()
	want, err, more := next()
	pass := func(until *Held) error { // the IDs before one of the target, and that one
		seen := until == nil
		for more && err == nil && (until == nil || want.ID.Compare(until.ID) <= 0) {
			held := until
			if until == nil || want.ID != until.ID {
				held = nil
			} else {
				seen = true
			}
			found = v.note(r, found, want, held)
			want, err, more = next()
		}
		if !seen && err == nil {
			found = v.note(r, found, &mirror.State{ID: until.ID, Kind: mirror.Unknown}, until)
		}
		return err
	}
	if err == nil {
		err = v.Target.Read(ctx, nil, func(h Held) error { return pass(&h) })
	}
	if err == nil {
		err = pass(nil)
	}
	if err != nil {
		return nil, fmt.Errorf("compare the target with the installation: %w", err)
	}
	return found, nil
}

// note adds a difference.
func (v *Verifying) note(r *Verification, found []Difference, want *mirror.State, held *Held) []Difference {
	if r.Compared++; v.Progress != nil && r.Compared%reportEvery == 0 {
		v.Progress(r.Compared)
	}
	if want.Settling {
		r.Settling++
		return found
	}
	if what := v.compare(want, held); what != "" {
		found = append(found, Difference{ID: want.ID, What: what})
	}
	return found
}

// compare returns how a target differs from a state, "" if it does not.
func (v *Verifying) compare(want *mirror.State, held *Held) What {
	if v.Kind != "" && want.Kind == mirror.Entity && want.Thing.Kind != v.Kind {
		return "" // not delivered
	}
	e := eventOf(want, 0)
	switch {
	case e.Op == Delete && (held == nil || held.Deleted):
		return ""
	case e.Op == Delete:
		return Surplus
	case held == nil:
		return Missing
	case held.Sum != SumOf(&e):
		return Different
	}
	return ""
}

// again compares differing IDs again, once the sink has caught up.
func (v *Verifying) again(ctx context.Context, r *Verification, found []Difference) (left []Difference, err error) {
	reached, err := v.CaughtUp(ctx)
	if err != nil {
		return nil, err
	}
	r.Late = !reached
	ids := make([]locality.ID, len(found))
	for i, d := range found {
		ids[i] = d.ID
	}
	held := make(map[locality.ID]*Held, len(ids))
	if err := v.Target.Read(ctx, ids, func(h Held) error { held[h.ID] = &h; return nil }); err != nil {
		return nil, fmt.Errorf("read %d ids of the target again: %w", len(ids), err)
	}
	for part := range slices.Chunk(ids, mirror.MostStates) {
		states, err := v.Source.States(ctx, part, nil)
		if err != nil {
			return nil, fmt.Errorf("read the state of %d ids: %w", len(part), err)
		}
		slices.SortFunc(states, func(a, b mirror.State) int { return a.ID.Compare(b.ID) })
		for i := range states {
			if what := v.compare(&states[i], held[states[i].ID]); what != "" && !states[i].Settling {
				left = append(left, Difference{ID: states[i].ID, What: what})
			}
		}
	}
	return left, nil
}

// repair has differing IDs delivered again, and compares them once more.
func (v *Verifying) repair(ctx context.Context, r *Verification) error {
	for n := 0; n < len(r.Found); n += resendAtOnce {
		part := r.Found[n:min(n+resendAtOnce, len(r.Found))]
		ids := make([]locality.ID, len(part))
		for i, d := range part {
			ids[i] = d.ID
		}
		if err := v.Resend(ctx, ids); err != nil {
			return fmt.Errorf("deliver %d ids again: %w", len(ids), err)
		}
		left, err := v.again(ctx, r, part)
		if err != nil {
			return err
		}
		differs := make(map[locality.ID]bool, len(left))
		for _, d := range left {
			differs[d.ID] = true
		}
		for i := range part {
			part[i].Repaired = !differs[part[i].ID]
		}
	}
	return nil
}
