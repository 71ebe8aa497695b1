// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"testing"
	"time"
)

// TestP10_FailuresAreForgotten sends failures from ever new addresses: memory stays bounded, and so does the total
// number of responses.
func TestP10_FailuresAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBuckets[int](failuresInAll)
	now, address, most, taken := time.Unix(1e9, 0), 0, 0, 0
	for range 60 * 100 { // a minute in steps of 10 ms
		now = now.Add(10 * time.Millisecond)
		for range 20 {
			address++
			if b.take(address, 1, failuresAtOnce, 1, now) == 0 {
				taken++
			}
		}
		most = max(most, len(b.of))
	}
	if limit := failuresInAll*60 + failuresInAll; taken > limit || taken < limit-failuresInAll {
		t.Errorf("%d failures of %d addresses were answered in a minute", taken, address)
	}
	if most > 3*failuresInAll*int(sweepEvery/time.Second) {
		t.Errorf("%d addresses are remembered", most)
	}
	now = now.Add(2 * sweepEvery)
	b.take(-1, 1, failuresAtOnce, 1, now)
	if len(b.of) != 1 {
		t.Errorf("%d addresses are remembered after the end", len(b.of))
	}
}

func TestP10_BucketsRefill(t *testing.T) {
	t.Parallel()
	b, now := newBuckets[string](0), time.Unix(1e9, 0)
	for range 10 {
		if wait := b.take("x", 1, 10, 1, now); wait != 0 {
			t.Fatal(wait)
		}
	}
	for range 100 { // refused requests take nothing
		if wait := b.take("x", 1, 10, 1, now); wait != time.Second {
			t.Fatal(wait)
		}
	}
	if wait := b.take("y", 1, 10, 1, now); wait != 0 {
		t.Error("another address waits for", wait)
	}
	now = now.Add(time.Second)
	if b.take("x", 1, 10, 1, now) != 0 || b.take("x", 1, 10, 1, now) == 0 {
		t.Error("after a second it is not one more")
	}
	if wait := b.take("batch", 5, 1000, 1000, now); wait != 0 {
		t.Error("a batch beyond the rate is never accepted:", wait)
	}
	if wait := b.take("batch", 5, 1000, 10, now); wait != 2*time.Second {
		t.Error("after the batch:", wait)
	}
	now = now.Add(time.Second)
	if wait := b.take("batch", 1000, 1000, 10, now); wait != 5*time.Millisecond {
		t.Error("with another rate:", wait)
	}
}
