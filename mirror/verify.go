// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
)

// VerifyOptions of Verify. Nil is the default.
type VerifyOptions struct {
	// Repair writes the documents that differ.
	Repair bool
	// Patience is how long to wait for the mirror to catch up before differences are checked again. Defaults to
	// 10 seconds. If the mirror does not catch up, a difference may only mean that it is late.
	Patience time.Duration
	// Progress is called now and then with the number of IDs compared.
	Progress func(compared int64)
}

// Difference is an ID whose document is wrong.
type Difference struct {
	ID   locality.ID `json:"id"`
	What What        `json:"what"`
}

// What is the kind of a difference.
type What string

// The kinds of differences.
const (
	Missing   What = "missing"   // there is no document
	Surplus   What = "surplus"   // the ID is unknown, and the document is not a tombstone
	Different What = "different" // the content differs
)

// Verification is the result of Verify.
type Verification struct {
	// Compared is the number of IDs compared.
	Compared int64 `json:"compared"`
	// Missing, Surplus and Different count the wrong documents by kind.
	Missing   int `json:"missing"`
	Surplus   int `json:"surplus"`
	Different int `json:"different"`
	// Late lists cells whose mirror did not catch up in time: their differences may be pending writes.
	Late []cell.ID `json:"late,omitempty"`
	// First has the first few differences in ID order.
	First []Difference `json:"first"`
	// Settling is the number of IDs left out because their records are being resolved.
	Settling int `json:"settling"`
	// Repaired is the number of documents written.
	Repaired int `json:"repaired"`
}

// Differ returns the number of wrong documents.
func (v *Verification) Differ() int { return v.Missing + v.Surplus + v.Different }

const (
	// firstFew limits First.
	firstFew = 10
	// scanPage is the number of documents read at once.
	scanPage = 200
	// looks is how often differences are checked again while the installation continues to change.
	looks = 3

	defaultPatience = 10 * time.Second
	standingPause   = 100 * time.Millisecond
)

// Verify compares both sides completely in ID order while writers and mirrors continue. Differences are checked
// again after the mirror has reached the current end of the log, so that a late mirror is not reported as wrong.
// The error wraps ErrForeign if the target has the mirror of another installation.
func Verify(ctx context.Context, source Source, target Target, opts *VerifyOptions) (*Verification, error) {
	v := &verifying{copier: copier{source: source, target: target}}
	if opts != nil {
		v.opts = *opts
	}
	v.opts.Patience = cmp.Or(v.opts.Patience, defaultPatience)
	if v.opts.Progress == nil {
		v.opts.Progress = func(int64) {}
	}
	if _, err := StandingOf(ctx, source, target); err != nil {
		return nil, err
	}
	suspects, err := v.walk(ctx)
	if err != nil {
		return nil, err
	}
	var found []Difference
	for n := 0; n < looks && len(suspects) > 0; n++ {
		if v.Late, err = v.caughtUp(ctx); err != nil {
			return nil, err
		}
		if found, err = v.look(ctx, suspects); err != nil {
			return nil, err
		}
		suspects = suspects[:0]
		for _, d := range found {
			suspects = append(suspects, d.ID)
		}
	}
	if len(found) == 0 {
		v.Late = nil
	}
	return v.end(ctx, found)
}

type verifying struct {
	copier
	Verification
	opts VerifyOptions
}

// end counts the differences, and repairs them if requested.
func (v *verifying) end(ctx context.Context, found []Difference) (*Verification, error) {
	ids := make([]locality.ID, len(found))
	for i, d := range found {
		ids[i] = d.ID
		switch d.What {
		case Missing:
			v.Missing++
		case Surplus:
			v.Surplus++
		case Different:
			v.Different++
		}
	}
	v.First = slices.Clone(found[:min(len(found), firstFew)])
	if v.opts.Repair {
		if _, err := v.refresh(ctx, ids); err != nil {
			return nil, err
		}
		v.Repaired = len(found)
	}
	return &v.Verification, nil
}

// walk compares both sides once, and returns the IDs that differ.
func (v *verifying) walk(ctx context.Context) (suspects []locality.ID, err error) {
	sides, err := sidesOf(ctx, v.source)
	if err != nil {
		return nil, err
	}
	there := newSide(func(after locality.ID) ([]State, error) {
		docs, err := v.target.Scan(ctx, after, scanPage)
		if err != nil {
			return nil, fmt.Errorf("read the documents after %v: %w", after, err)
		}
		page := make([]State, len(docs))
		for i := range docs {
			page[i] = docs[i].State
		}
		return page, nil
	})
	for {
		want, err1 := first(sides)
		got, err2 := there.peek()
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		if want == nil && got == nil {
			return suspects, nil
		}
		id, d := compare(want, got)
		if got != nil && got.ID == id {
			there.next()
		}
		if want != nil && want.ID == id {
			for _, s := range sides {
				s.pass(id)
			}
		}
		if v.Compared++; v.Compared%(5*scanPage) == 0 {
			v.opts.Progress(v.Compared)
		}
		if want != nil && want.ID == id && want.Settling {
			v.Settling++
		} else if d != "" {
			suspects = append(suspects, id)
		}
	}
}

// compare returns the lower ID of two states, either of which may be nil, and how the second differs from the
// first.
func compare(want, got *State) (locality.ID, What) {
	switch {
	case got == nil || want != nil && want.ID.Compare(got.ID) < 0:
		if want.Kind == Unknown {
			return want.ID, ""
		}
		return want.ID, Missing
	case want == nil || got.ID.Compare(want.ID) < 0 || want.Kind == Unknown:
		if got.Kind == Deleted {
			return got.ID, ""
		}
		return got.ID, Surplus
	case !want.Same(got):
		return want.ID, Different
	}
	return want.ID, ""
}

// look compares some IDs again.
func (v *verifying) look(ctx context.Context, ids []locality.ID) (found []Difference, err error) {
	for part := range slices.Chunk(ids, MostStates) {
		docs, err := v.target.Documents(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("read %d documents: %w", len(part), err)
		}
		states, err := v.source.States(ctx, part, nil)
		if err != nil {
			return nil, fmt.Errorf("read the state of %d ids: %w", len(part), err)
		}
		there := make(map[locality.ID]*State, len(docs))
		for i := range docs {
			there[docs[i].ID] = &docs[i].State
		}
		slices.SortFunc(states, func(a, b State) int { return a.ID.Compare(b.ID) })
		for i := range states {
			if states[i].Settling {
				continue
			}
			if id, what := compare(&states[i], there[states[i].ID]); what != "" {
				found = append(found, Difference{id, what})
			}
		}
	}
	return found, nil
}

// caughtUp waits, at most Patience, until the mirror reaches the current ends of the logs, and returns the cells
// where it did not.
func (v *verifying) caughtUp(ctx context.Context) (late []cell.ID, err error) {
	tail, err := v.source.Tail(ctx)
	if err != nil {
		return nil, fmt.Errorf("read where the logs end: %w", err)
	}
	until := time.Now().Add(v.opts.Patience)
	for {
		if late, err = v.late(ctx, tail); err != nil || len(late) == 0 || time.Now().After(until) {
			return late, err
		}
		if !rest(ctx, standingPause) {
			return nil, context.Cause(ctx)
		}
	}
}

// late returns the cells whose mirror has not reached a position.
func (v *verifying) late(ctx context.Context, tail map[cell.ID]changelog.Seq) (late []cell.ID, err error) {
	standings, err := StandingOf(ctx, v.source, v.target)
	if err != nil {
		return nil, err
	}
	for _, s := range standings {
		if !s.Filled || s.At < tail[s.Cell] {
			late = append(late, s.Cell)
		}
	}
	return late, nil
}
