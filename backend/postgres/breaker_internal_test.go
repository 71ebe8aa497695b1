// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
)

func TestBreaker(t *testing.T) {
	t.Parallel()
	now, chance := time.Unix(0, 0), 0.5
	b := breaker{now: func() time.Time { return now }, rand: func() float64 { return chance }}
	down := errors.New("down")
	try := func(failure error) bool {
		t.Helper()
		err := b.enter()
		if err != nil {
			if !errors.Is(err, cell.ErrUnavailable) || !errors.Is(err, down) {
				t.Errorf("refused with %v", err)
			}
			return false
		}
		b.leave(failure)
		return true
	}
	for range tolerance - 1 {
		try(down)
	}
	try(nil)
	for i := range tolerance {
		if !try(down) {
			t.Errorf("open after %d failures in a row", i)
		}
	}
	if try(nil) {
		t.Error("not open after as many failures as are tolerated")
	}
	// It opens for longer each time, and lets one try each time.
	for _, off := range []int{500, 1000, 2000, 4000, 8000, 10000, 10000} {
		now = now.Add(time.Duration(off)*time.Millisecond - 1)
		if err := b.enter(); err == nil || !strings.Contains(err.Error(), "down") {
			t.Errorf("open for less than %d ms: %v", off, err)
		}
		now = now.Add(1)
		if err := b.enter(); err != nil {
			t.Fatalf("open for more than %d ms: %v", off, err)
		}
		if b.enter() == nil {
			t.Error("two try at once")
		}
		b.leave(down)
	}
	// Who tried and left early told nothing: the next one tries.
	now = now.Add(longestOff)
	if !try(errImpatient) || !try(nil) {
		t.Error("nobody may try")
	}
	for range 10 {
		if !try(nil) {
			t.Error("open though it works")
		}
	}
	// Chance spreads the moment over half to one and a half of it.
	for range tolerance {
		try(down)
	}
	first := b.until.Sub(now)
	chance = 0
	b.leave(down)
	if d := b.until.Sub(now); first != shortestOff || d != shortestOff {
		t.Errorf("off for %v, then %v without luck", first, d)
	}
}
