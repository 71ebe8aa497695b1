// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// postingsOfManyTransactions posts and removes in batches of all sizes, of which some are rolled back, some are merged
// and one is followed by a reopening, and compares what is read with the model.
func postingsOfManyTransactions(t tester, c Cell) {
	r := rand.New(rand.NewPCG(3, 5))
	want := newModel()
	keys, limits := make([]uint64, 300), make([]int, 300)
	for i := range keys {
		keys[i], limits[i] = uint64(i)*0x9e3779b97f4a7c15, []int{1, 5, 65, all}[i%4]
	}
	draw := func(most int) []derived.Posting {
		ps := make([]derived.Posting, r.IntN(most))
		for i := range ps {
			ps[i] = derived.Posting{Key: keys[min(r.IntN(len(keys)), r.IntN(len(keys)))], PUID: entity.PUID(r.IntN(500) - 250)}
		}
		return ps
	}
	same := func(ctx context.Context, tx storage.Tx) error {
		got, err := tx.RecordsByKey(ctx, keys, limits)
		expected, _ := want.RecordsByKey(ctx, keys, limits)
		if diff := equal(got, expected); err != nil || diff != "" {
			return errors.Join(err, fmt.Errorf("records by key: %s", diff))
		}
		rows := 0
		for after := []any(nil); ; {
			page, err := tx.ReadRows(ctx, "posting", after, 700)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			there, err := tx.RowsAt(ctx, "posting", page)
			if err != nil || slices.ContainsFunc(there, func(row []any) bool { return row == nil }) {
				return fmt.Errorf("a row of a page is not there: %w", err)
			}
			rows, after = rows+len(page), page[len(page)-1]
		}
		if rows != len(want.postings) {
			return fmt.Errorf("%d rows of postings, want %d", rows, len(want.postings))
		}
		return nil
	}
	for n := range longtest.Sample(20, 20, max(20, longtest.Part(60)), 60) {
		add, remove, rollback, former := draw([]int{4, 60, 900}[n%3]), draw([]int{4, 200}[n%2]), n%5 == 4, want.clone()
		conformance.Ends(t, c.Update, rollback, func(ctx context.Context, tx storage.Tx) error {
			want = former.clone()
			if err := errors.Join(tx.Post(ctx, add, nil), want.Post(ctx, add, nil), tx.Post(ctx, nil, remove), want.Post(ctx, nil, remove)); err != nil {
				return err
			}
			if n%20 == 17 {
				if err := tx.MergePostings(ctx, n == 37); err != nil {
					return err
				}
			}
			if n%4 != 0 && n < 56 {
				return nil
			}
			return same(ctx, tx)
		})
		if rollback {
			want = former
		}
		if n == 30 {
			conformance.Reopen(t, c.Reopen)
		}
		if n%3 == 0 {
			view(t, c, func(ctx context.Context, tx storage.Tx) (bool, error) { return true, same(ctx, tx) })
		}
	}
}
