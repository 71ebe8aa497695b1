// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

func seesItsOwnWrites(t tester, c Cell) {
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		want, err := everything(ctx, tx)
		if err != nil {
			return err
		}
		got, err := inspect(ctx, tx, entity.PUID(want.Key))
		if err != nil {
			return err
		}
		if diff := equal(got, want); diff != "" {
			return fmt.Errorf("contents in the transaction (-want +got):\n%s", diff)
		}
		return nil
	})
}

func rollbackLeavesNothing(t tester, c Cell) {
	var wrote contents
	conformance.Ends(t, c.Update, true, func(ctx context.Context, tx storage.Tx) (err error) {
		wrote, err = everything(ctx, tx)
		return err
	})
	holds(t, c, entity.PUID(wrote.Key), nothing)
	storesCommitTogether(t, c)
}

func panicRollsBack(t tester, c Cell) {
	var wrote contents
	func() {
		defer func() {
			if r := recover(); r != "out of order" {
				t.Fatalf("recovered %v from Update, want the panic of its function", r)
			}
		}()
		_ = c.Update(context.Background(), func(tx storage.Tx) error {
			wrote, _ = everything(context.Background(), tx)
			panic("out of order")
		})
	}()
	holds(t, c, entity.PUID(wrote.Key), nothing)
	storesCommitTogether(t, c)
}

func storesCommitTogether(t tester, c Cell) {
	want := conformance.Ask(t, c.Update, everything)
	holds(t, c, entity.PUID(want.Key), want)
}

func survivesReopening(t tester, c Cell) {
	want := conformance.Ask(t, c.Update, everything)
	conformance.Reopen(t, c.Reopen)
	holds(t, c, entity.PUID(want.Key), want)
}

func viewCannotWrite(t tester, c Cell) {
	ctx := context.Background()
	for name, write := range map[string]func(tx storage.Tx) error{
		"Allocate":      func(tx storage.Tx) error { _, err := tx.Allocate(ctx, []cell.Key{sampleKey}); return err },
		"Post":          func(tx storage.Tx) error { return tx.Post(ctx, postings(9, 1), nil) },
		"MergePostings": func(tx storage.Tx) error { return tx.MergePostings(ctx, true) },
		"PutDefinition": func(tx storage.Tx) error { return tx.PutDefinition(ctx, "rules", []byte{1}) },
		"PutRedo":       func(tx storage.Tx) error { return put(ctx, tx, derived.Redo{PUID: 1}) },
		"Append":        func(tx storage.Tx) error { return tx.Append(ctx, []changelog.Change{{Kind: changelog.Put}}) },
		"Trim":          func(tx storage.Tx) error { _, err := tx.Trim(ctx, 1, 1); return err },
		"AddCounts": func(tx storage.Tx) error {
			return tx.AddCounts(ctx, entity.Counts{Records: 1})
		},
		"PutRollup":        func(tx storage.Tx) error { return tx.PutRollup(ctx, rollup.Rollup{Name: "r"}) },
		"DeleteGeneration": func(tx storage.Tx) error { return tx.DeleteGeneration(ctx, 1) },
		"PutRows": func(tx storage.Tx) error {
			return tx.PutRows(ctx, 1, []rollup.Row{{Key: sampleRow, Body: sampleRow}})
		},
		"DropRows": func(tx storage.Tx) error { _, err := tx.DropRows(ctx, 1, 1); return err },
	} {
		if err := c.View(ctx, write); err == nil {
			t.Fatalf("%s in a View is no error", name)
		}
	}
	holds(t, c, 1, nothing)
	storesCommitTogether(t, c)
}

func viewIsOneSnapshot(t tester, c Cell) {
	ctx := context.Background()
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		return put(ctx, tx, derived.Redo{PUID: 1})
	})
	err := c.View(ctx, func(tx storage.Tx) error {
		before, err := tx.RedoDepth(ctx)
		if err != nil {
			return err
		}
		for n := range entity.PUID(3) {
			if err := c.Update(ctx, func(w storage.Tx) error {
				return errors.Join(put(ctx, w, derived.Redo{PUID: 10 + n}), w.Post(ctx, postings(9, n+1), nil))
			}); err != nil {
				return fmt.Errorf("update beside a view: %w", err)
			}
			after, err1 := tx.RedoDepth(ctx)
			carriers, err2 := tx.RecordsByKey(ctx, []uint64{9}, []int{10})
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if before != 1 || after != before || len(carriers[0]) > 0 {
				return fmt.Errorf("a view saw %d entries, then %d, and records %v of a later transaction", before, after, carriers)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
	same(t, "depth afterwards", depth(t, c), 4)
}

func viewSeesNothingUncommitted(t tester, c Cell) {
	var wrote contents
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) (err error) {
		if wrote, err = everything(ctx, tx); err != nil {
			return err
		}
		return c.View(ctx, func(tx storage.Tx) error {
			got, err := inspect(ctx, tx, entity.PUID(wrote.Key))
			if diff := equal(got, nothing); err == nil && diff != "" {
				err = fmt.Errorf("a view of what is not committed (-want +got):\n%s", diff)
			}
			return err
		})
	})
	holds(t, c, entity.PUID(wrote.Key), wrote)
}

func errorsComeBack(t tester, c Cell) {
	ctx := context.Background()
	for name, run := range map[string]func(context.Context, func(storage.Tx) error) error{"Update": c.Update, "View": c.View} {
		if err := run(ctx, func(storage.Tx) error { return conformance.ErrRollback }); !errors.Is(err, conformance.ErrRollback) {
			t.Fatalf("%s returned %v, want the error of its function", name, err)
		}
		if err := run(ctx, func(storage.Tx) error { return nil }); err != nil {
			t.Fatalf("%s of nothing: %v", name, err)
		}
	}
}

func cancelledContext(t tester, c Cell) {
	ctx, cancel := context.WithCancel(context.Background())
	err := c.Update(ctx, func(tx storage.Tx) error {
		_, err := everything(ctx, tx)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Update under a context that is cancelled before the commit: %v", err)
	}
	for name, run := range map[string]func(context.Context, func(storage.Tx) error) error{"Update": c.Update, "View": c.View} {
		err := run(ctx, func(storage.Tx) error { return errors.New("the function ran") })
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s under a cancelled context: %v", name, err)
		}
	}
	holds(t, c, 1, nothing)
	storesCommitTogether(t, c)
}

// overIsOver uses transactions whose functions have returned.
func overIsOver(t tester, c Cell) {
	ctx := context.Background()
	var kept []storage.Tx
	keep := func(tx storage.Tx) error { kept = append(kept, tx); return nil }
	if err := errors.Join(c.Update(ctx, keep), c.View(ctx, keep)); err != nil {
		t.Fatalf("transactions of nothing: %v", err)
	}
	for _, tx := range kept {
		_, err := tx.RedoDepth(ctx)
		if err == nil || tx.Post(ctx, postings(9, 1), nil) == nil {
			t.Fatalf("a transaction works after its end")
		}
	}
	carry(t, c, 9)
}

// concurrentUpdatesAreSerial runs eight writers that each increment the number that they read, and readers that must
// never see a count without its postings.
func concurrentUpdatesAreSerial(t tester, c Cell) {
	const writers, each = 8, 10
	errs := make([]error, 2*writers)
	var wg sync.WaitGroup
	ctx := context.Background()
	for w := range writers {
		wg.Go(func() {
			for range each {
				errs[w] = errors.Join(errs[w], c.Update(ctx, func(tx storage.Tx) error {
					counts, err := tx.Counts(ctx)
					if err != nil {
						return err
					}
					return errors.Join(tx.AddCounts(ctx, entity.Counts{Records: 1}),
						tx.Post(ctx, postings(9, entity.PUID(counts.Records+1)), nil))
				}))
			}
		})
		wg.Go(func() {
			for range each {
				errs[writers+w] = errors.Join(errs[writers+w], c.View(ctx, func(tx storage.Tx) error {
					carriers, err := tx.RecordsByKey(ctx, []uint64{9}, []int{all})
					if err != nil {
						return err
					}
					counts, err := tx.Counts(ctx)
					if err == nil && counts.Records != int64(len(carriers[0])) {
						err = fmt.Errorf("a view of %d records with %d postings", counts.Records, len(carriers[0]))
					}
					return err
				}))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("concurrent transactions: %v", err)
	}
	got := carriers(t, c, []uint64{9}, []int{all})[0]
	if len(got) != writers*each {
		t.Fatalf("%d updates left %d postings: some of them read the same", writers*each, len(got))
	}
}

// skipsTheLogToo makes a cell skip log numbers: no change ever gets one of them, and they can be trimmed
// like changes.
func skipsTheLogToo(t tester, c Cell) {
	const skipped = 1000
	change := []changelog.Change{{Time: time.UnixMilli(0).UTC(), Kind: changelog.Put, Entity: sampleID}}
	bounds := func() changelog.Bounds {
		return view(t, c, func(ctx context.Context, tx storage.Tx) (changelog.Bounds, error) { return tx.Bounds(ctx) })
	}
	for range 2 {
		conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return tx.Append(ctx, change) })
		before := bounds()
		conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return tx.Skip(ctx, skipped) })
		after := bounds()
		if after != (changelog.Bounds{Last: before.Last + skipped}) {
			t.Fatalf("the ends of a log that passes over %d numbers are %+v, before %+v", skipped, after, before)
		}
		conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return tx.Append(ctx, change) })
		next := view(t, c, func(ctx context.Context, tx storage.Tx) ([]changelog.Change, error) {
			return tx.Changes(ctx, before.Last, 10)
		})
		if len(next) != 1 || next[0].Seq <= after.Last {
			t.Fatalf("changes %+v after %d numbers that were passed over: want one after %d", next, skipped, after.Last)
		}
	}
	last := bounds().Last
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		if n, err := tx.Trim(ctx, last, 2); err != nil || n != 2 {
			return fmt.Errorf("2 changes of 4 are to be trimmed, %d were, %w", n, err)
		}
		if n, err := tx.Trim(ctx, last, 10); err != nil || n != 2 {
			return fmt.Errorf("the other 2 are to be trimmed, %d were, %w", n, err)
		}
		return tx.Skip(ctx, skipped)
	})
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		n, err := tx.Trim(ctx, last+skipped/2, 10)
		b, err2 := tx.Bounds(ctx)
		if want := (changelog.Bounds{Trimmed: last + skipped/2, Last: last + skipped}); n != 0 || b != want {
			return fmt.Errorf("%d changes were trimmed of none, and the ends are %+v, want %+v", n, b, want)
		}
		return errors.Join(err, err2)
	})
}
