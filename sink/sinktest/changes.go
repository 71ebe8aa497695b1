// SPDX-License-Identifier: Apache-2.0

package sinktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/sink"
)

// ChangeTarget is an empty target of changes with a way to look into it.
type ChangeTarget struct {
	sink.ChangeSink
	// All returns the changes of each cell, in their order in the target, without those that a consumer drops.
	All func(ctx context.Context) (map[cell.ID][]sink.Change, error)
}

// RunChanges checks an implementation of sink.ChangeSink. open is called once per case and registers its cleanup with
// t.Cleanup; cases run in parallel.
func RunChanges(t *testing.T, open func(t *testing.T) ChangeTarget) {
	t.Helper()
	changeCases.Run(t, open)
}

var changeCases = conformance.Suite[ChangeTarget]{
	{Name: "ChangesComeBackWholeAndInOrder", Run: changesComeBackWhole},
	{Name: "RepeatedChangesAreDropped", Run: repeatedChanges},
}

// ChangeOf returns a change.
func ChangeOf(id cell.ID, seq changelog.Seq) sink.Change {
	return sink.Change{Cell: id, Change: changelog.Change{
		Seq: seq, Time: time.Date(2026, 11, 23, 1, 2, 3, 4_000_000, time.UTC), Kind: changelog.Merged,
		Cause: changelog.CausePut, Entity: idOf(int(seq)),
		Before: []changelog.Version{{PUID: -7, Version: 1}},
		After:  []changelog.Version{{PUID: -7, Version: 1}, {PUID: 1 << 60, Version: 9}},
	}}
}

func deliverChanges(t tester, target ChangeTarget, changes ...sink.Change) {
	t.Helper()
	if n, err := target.DeliverChanges(context.Background(), changes); err != nil || n != len(changes) {
		t.Fatalf("%d of %d changes, %v", n, len(changes), err)
	}
}

func hasChanges(t tester, target ChangeTarget, want map[cell.ID][]sink.Change) {
	t.Helper()
	got, err := target.All(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the target has (-want +got)\n%s", diff)
	}
}

// some returns changes of two cells. Numbers may be missing in a log.
func some() map[cell.ID][]sink.Change {
	all := map[cell.ID][]sink.Change{}
	for _, id := range []cell.ID{{}, {Gen: 1, Index: 19}} {
		for seq := changelog.Seq(1); seq < 300; seq += 3 {
			all[id] = append(all[id], ChangeOf(id, seq))
		}
	}
	return all
}

func changesComeBackWhole(t tester, target ChangeTarget) {
	all := some()
	var done sync.WaitGroup
	for _, of := range all {
		done.Go(func() {
			for part := range slices.Chunk(of, 40) {
				deliverChanges(t, target, part...)
			}
		})
	}
	done.Wait()
	hasChanges(t, target, all)
}

func repeatedChanges(t tester, target ChangeTarget) {
	all := some()
	for _, of := range all {
		deliverChanges(t, target, of[:60]...)
		deliverChanges(t, target, of[30:]...)
	}
	hasChanges(t, target, all)
}

// Recorder is a target of changes in memory. The zero value is ready to use.
type Recorder struct {
	// Fail, if not nil, is asked before each change.
	Fail func(sink.Change) error

	mu      sync.Mutex
	changes map[cell.ID][]sink.Change
}

// DeliverChanges implements sink.ChangeSink.
func (r *Recorder) DeliverChanges(_ context.Context, changes []sink.Change) (delivered int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes == nil {
		r.changes = map[cell.ID][]sink.Change{}
	}
	for i, c := range changes {
		if r.Fail != nil {
			if err := r.Fail(c); err != nil {
				return i, err
			}
		}
		r.changes[c.Cell] = append(r.changes[c.Cell], c)
	}
	return len(changes), nil
}

// Close implements sink.ChangeSink.
func (r *Recorder) Close() error { return nil }

// All returns the changes of each cell without repeated ones. The error says that one came before another with a lower
// seq that is not repeated.
func (r *Recorder) All(context.Context) (map[cell.ID][]sink.Change, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[cell.ID][]sink.Change{}
	for id, of := range r.changes {
		kept, err := Once(of)
		if err != nil {
			return nil, fmt.Errorf("cell %v: %w", id, err)
		}
		all[id] = kept
	}
	return all, nil
}

// Once returns the changes of a cell as a consumer keeps them: those with a higher seq than all before. The error
// reports a dropped change that was not delivered before.
func Once(changes []sink.Change) (kept []sink.Change, err error) {
	highest := changelog.Seq(-1)
	for _, c := range changes {
		if c.Seq > highest {
			highest = c.Seq
			kept = append(kept, c)
			continue
		}
		if !slices.ContainsFunc(kept, func(k sink.Change) bool { return k.Seq == c.Seq }) {
			err = errors.Join(err, fmt.Errorf("change %d comes after %d", c.Seq, highest))
		}
	}
	return kept, err
}
