// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// ErrDecision means that a decision is invalid: about a record and itself, about records of two kinds, or
// about an attribute that the kind does not have.
var ErrDecision = problem.Class(problem.ErrInvalid, "resolve: not a decision")

// Decided is the result of a decision.
type Decided struct {
	// Decision as stored, with its assigned time.
	entity.Decision
	// Pending marks a durable decision whose consequences are not resolved yet.
	Pending bool
	// Marks are log positions of the cells, as in Result.
	Marks map[cell.ID]changelog.Seq
	Err   error
}

// Decide makes or withdraws decisions and resolves the consequences. The decisions get times a millisecond
// apart, and each is newer than all earlier decisions about its record. A decision about a pair is stored
// under both records; it is durable once it is stored under the lower puid, with a redo entry that copies
// it to the other.
//
// If the context ends first, Decide returns shortly after. Decisions that have not begun are not made; one
// whose outcome is not known has an Err that wraps ErrCommitUnknown.
func (r *Resolver) Decide(ctx context.Context, decisions []entity.Decision) []Decided {
	failed := func(err error) []Decided {
		answers := make([]Decided, len(decisions))
		for i, d := range decisions {
			answers[i] = Decided{Decision: d, Err: err}
		}
		return answers
	}
	if err := r.mu.lockIn(ctx); err != nil {
		return failed(err)
	}
	done := make(chan []Decided, 1)
	go func() {
		defer r.unlock()
		done <- r.decide(ctx, decisions)
	}()
	select {
	case answers := <-done:
		return answers
	case <-ctx.Done():
	}
	grace := time.NewTimer(decideGrace)
	defer grace.Stop()
	select {
	case answers := <-done: // decisions that had not begun carry the error of the context
		return answers
	case <-grace.C:
		return failed(fmt.Errorf("%w: the caller's deadline passed while the decision was being written: %s",
			cell.ErrCommitUnknown, context.Cause(ctx).Error()))
	}
}

// decideGrace is how long Decide waits for running work after its context has ended.
const decideGrace = 100 * time.Millisecond

func (r *Resolver) decide(ctx context.Context, decisions []entity.Decision) []Decided {
	b := newBatch(r, nil, nil, nil)
	answers := make([]Decided, len(decisions))
	groups := map[cell.ID][]int{}
	for i, d := range decisions {
		answers[i].Decision = d
		id, err := b.decidable(ctx, d)
		if err != nil {
			answers[i].Err = err
			continue
		}
		groups[id] = append(groups[id], i)
	}
	entries := b.enter(ctx, groups, answers)
	if len(entries) > 0 {
		b.follow(context.WithoutCancel(ctx), entries, answers)
	}
	marks := r.takeMarks()
	for i := range answers {
		answers[i].Marks = marks
	}
	r.releaseIfContended(ctx, leaseTurn)
	r.idle = r.opts.Now()
	return answers
}

// lower returns the decision as stored under the lower puid, where it is durable first.
func lower(d entity.Decision) entity.Decision {
	if d.Pair() && d.B < d.A {
		return d.Mirror()
	}
	return d
}

// decidable validates a decision and returns the cell that it is written to first.
func (b *batch) decidable(ctx context.Context, d entity.Decision) (cell.ID, error) {
	puids := []entity.PUID{d.A}
	switch d.Verdict {
	case entity.VerdictSame, entity.VerdictDifferent:
		if puids = append(puids, d.B); d.A == d.B {
			return cell.ID{}, fmt.Errorf("%w: record %v and itself", ErrDecision, d.A)
		}
	case entity.VerdictAnchor, entity.VerdictValue:
		if d.B != 0 {
			return cell.ID{}, fmt.Errorf("%w: verdict %q is about one record", ErrDecision, d.Verdict)
		}
	default:
		return cell.ID{}, fmt.Errorf("%w: verdict %q", ErrDecision, d.Verdict)
	}
	if err := b.load(ctx, b.nodes, puids); err != nil {
		return cell.ID{}, err
	}
	for _, p := range puids {
		if b.nodes[p] == nil {
			return cell.ID{}, entity.ErrNotFound
		}
	}
	x, y := b.nodes[puids[0]], b.nodes[puids[len(puids)-1]]
	if d.Verdict == entity.VerdictSame && !d.Withdrawn && x.norm != nil && y.norm != nil && x.kind != y.kind {
		return cell.ID{}, fmt.Errorf("%w: a %s and a %s", ErrDecision, x.kind.Name(), y.kind.Name())
	}
	if d.Verdict == entity.VerdictValue && x.norm != nil && !slices.Contains(x.kind.Policy.Names(), d.Attribute) {
		return cell.ID{}, fmt.Errorf("%w: a %s has no %q", ErrDecision, x.kind.Name(), d.Attribute)
	}
	return b.home(lower(d).A)
}

// enter stores decisions durably and returns their redo entries.
func (b *batch) enter(ctx context.Context, groups map[cell.ID][]int, answers []Decided) (entries []derived.Redo) {
	var mu sync.Mutex
	_ = eachCell(groups, func(id cell.ID, group []int) error {
		var entered []derived.Redo
		err := b.again(ctx, func() error {
			c, err := b.opts.Cells.Cell(id)
			if err != nil {
				return err
			}
			return c.Update(ctx, func(tx storage.Tx) (err error) {
				entered, err = b.enterCell(ctx, tx, group, answers)
				return err
			})
		})
		if err != nil {
			err = fmt.Errorf("cell %v: %w", id, b.asked(id, err))
		}
		mu.Lock()
		defer mu.Unlock()
		if errors.Is(err, cell.ErrCommitUnknown) {
			b.redoLog.markDirty()
		}
		if err == nil {
			entries = append(entries, entered...)
		}
		for _, i := range group {
			b.invalidateDecisions(answers[i].A, answers[i].B)
			answers[i].Err = err
		}
		return nil
	})
	return entries
}

// again runs do, refreshing the cell map and the rules until they are new enough for it.
func (b *batch) again(ctx context.Context, do func() error) error {
	for attempt := 0; ; attempt++ {
		err := do()
		if !outdated(err) {
			return err
		}
		if attempt == maxAttempts {
			return fmt.Errorf("%w: %w", cell.ErrUnavailable, err)
		}
		if e := b.pause(ctx, attempt); e != nil {
			return fmt.Errorf("%w: %w", err, e)
		}
		if e := b.refresh(ctx, err); e != nil {
			return e
		}
	}
}

// enterCell writes decisions, each later than those stored under its record.
func (b *batch) enterCell(ctx context.Context, tx storage.Tx, group []int, answers []Decided) ([]derived.Redo, error) {
	puids := make([]entity.PUID, len(group))
	for n, i := range group {
		puids[n] = lower(answers[i].Decision).A
	}
	records, err := tx.Records(ctx, puids) // also locks the records against concurrent decisions
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	stored, err := tx.Decisions(ctx, puids)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	last := map[entity.PUID]time.Time{}
	for _, d := range stored {
		if d.At.After(last[d.A]) {
			last[d.A] = d.At
		}
	}
	made, redos := make([]entity.Decision, len(group)), make([]derived.Redo, len(group))
	for n, i := range group {
		p := puids[n]
		if records[n] == nil {
			return nil, fmt.Errorf("record %v: %w", p, entity.ErrNotFound)
		}
		at := b.now.Add(time.Duration(i) * time.Millisecond) // keeps the order of the call
		if !at.After(last[p]) {
			at = last[p].Add(time.Millisecond)
		}
		last[p], answers[i].At = at, at
		made[n] = lower(answers[i].Decision)
		redos[n] = derived.Redo{PUID: p, Version: records[n].Version, Decided: at.UnixMilli()}
	}
	if err := tx.PutDecisions(ctx, made); err != nil {
		return nil, err
	}
	entered, err := tx.PutRedo(ctx, redos)
	if err != nil {
		return nil, fmt.Errorf("put redo: %w", err)
	}
	return entered, nil
}
