// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/console"
)

func TestHistory_NeedsTwoLooks(t *testing.T) {
	t.Parallel()
	var h console.History
	for _, at := range []time.Time{noon, noon.Add(100 * time.Millisecond)} {
		h.Add(at, 5)
		if curve, peak := h.Draw(); curve != "" || peak != 0 {
			t.Errorf("Draw = %q, %v", curve, peak)
		}
	}
}

func TestHistory_DrawsTheRateBetweenLooks(t *testing.T) {
	t.Parallel()
	var h console.History
	h.Add(noon, 0)
	h.Add(noon.Add(time.Minute), 6000)                  // 100 a second
	h.Add(noon.Add(2*time.Minute), 6000)                // 0
	h.Add(noon.Add(3*time.Minute), 9000)                // 50
	const want = "M0 1L60 1L60 35L120 35L120 18L180 18" // three steps from left to right
	if curve, peak := h.Draw(); curve != want || peak != 100 {
		t.Errorf("Draw = %s, %v; want %s, 100", curve, peak, want)
	}
	h.Add(noon.Add(5*time.Minute), 9000)
	if curve, peak := h.Draw(); curve != "M0 1L60 1L60 35L180 35" || peak != 50 {
		t.Errorf("later Draw = %s, %v", curve, peak)
	}
}

func TestHistory_AFewSecondsAreNotAWholePicture(t *testing.T) {
	t.Parallel()
	var h console.History
	h.Add(noon, 0)
	h.Add(noon.Add(15*time.Second), 1500)
	if curve, peak := h.Draw(); curve != "M135 1L180 1" || peak != 100 {
		t.Errorf("Draw = %s, %v", curve, peak)
	}
}

func TestHistory_BeginsAnewWhenTheTotalFalls(t *testing.T) {
	t.Parallel()
	var h console.History
	h.Add(noon, 1000)
	h.Add(noon.Add(time.Second), 2000)
	h.Add(noon.Add(2*time.Second), 5)
	if curve, peak := h.Draw(); curve != "" || peak != 0 {
		t.Errorf("Draw = %s, %v", curve, peak)
	}
}

func TestHistory_IsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var h console.History
		at, written := noon, int64(0)
		for range rapid.IntRange(0, 1000).Draw(t, "looks") {
			at = at.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pause")) * time.Millisecond)
			written += rapid.Int64Range(0, 100).Draw(t, "written")
			h.Add(at, written)
		}
		curve, peak := h.Draw()
		if n := strings.Count(curve, "L"); n > 2*2*180+4 {
			t.Fatalf("%d points", n)
		}
		if strings.ContainsAny(curve, "-NI") || peak < 0 { // negative, NaN, Inf
			t.Fatalf("Draw = %s, %v", curve, peak)
		}
	})
}

func TestHistory_TakesManyViewers(t *testing.T) {
	t.Parallel()
	var h console.History
	var viewers sync.WaitGroup
	for range 8 {
		viewers.Go(func() {
			for i := range 200 {
				h.Add(noon.Add(time.Duration(i)*time.Second), int64(i))
				h.Draw()
			}
		})
	}
	viewers.Wait()
}
