// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest"
)

// Each flipped bit of a compacted day is found, for a counter and a gauge.
func TestP03_VerifyFindsEachFlippedBitOfACompactedDay(t *testing.T) {
	t.Parallel()
	w := newReadWorld(t, time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC), countertest.NewMemory())
	at := w.minute(0)
	for n := range counter.Minute(50) {
		w.must(w.hit("c", at+7*n, int64(n)+1))
	}
	w.must(w.hit("g", at, 7))
	w.now = w.now.Add(3 * 24 * time.Hour)
	w.must(w.maintain())
	keys := []counter.BucketKey{counter.NewBucketKey(at.Day(), 1), counter.NewBucketKey(at.Day(), 2)}
	verify := func() (found []counter.Damage) {
		w.must(w.cells["c0"].View(t.Context(), func(tx counter.Tx) (err error) {
			found, err = counter.VerifyCompacted(t.Context(), tx, keys)
			return err
		}))
		return found
	}
	if found := verify(); len(found) > 0 {
		t.Fatalf("nothing is damaged: %+v", found)
	}
	flips := map[string]func(*counter.CompactedDay){
		"its total":   func(d *counter.CompactedDay) { d.N ^= 1 },
		"its details": func(d *counter.CompactedDay) { d.Detail ^= 1 },
		"no details":  func(d *counter.CompactedDay) { d.Detail = counter.NoDetail },
	}
	for i := range 8 * 60 {
		flips[fmt.Sprintf("bit %d of its body", i)] = func(d *counter.CompactedDay) {
			d.Body = append([]byte(nil), d.Body...)
			d.Body[i/8%len(d.Body)] ^= 1 << (i % 8)
		}
	}
	for i := range keys {
		for name, flip := range flips {
			var was []counter.CompactedDay
			w.must(w.cells["c0"].Update(t.Context(), func(tx counter.Tx) (err error) {
				was, err = tx.CompactedDays(t.Context(), keys[i:i+1])
				is := was[0]
				flip(&is)
				return errors.Join(err, tx.PutCompactedDays(t.Context(), []counter.CompactedDay{is}))
			}))
			if found := verify(); len(found) != 1 || found[0].ID != keys[i].ID() {
				t.Errorf("metric %d, %s: %+v", keys[i].ID(), name, found)
			}
			w.must(w.cells["c0"].Update(t.Context(), func(tx counter.Tx) error { return tx.PutCompactedDays(t.Context(), was) }))
		}
	}
}
