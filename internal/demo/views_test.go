// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/demo"
)

// Views at a time are deterministic, the views of a minute are about the sum over its seconds, and there are more by
// day than by night.
func TestGenerator_Views(t *testing.T) {
	t.Parallel()
	g := demo.New(1, 100)
	sum := func(from time.Time, length, in time.Duration) map[string]int64 {
		of := map[string]int64{}
		for at := from; at.Before(from.Add(length)); at = at.Add(in) {
			views := g.Views(at, in)
			if diff := cmp.Diff(views, demo.New(1, 100).Views(at, in)); diff != "" {
				t.Fatalf("two tellings differ:\n%s", diff)
			}
			for _, v := range views {
				if v.N < 1 || v.N > 1000 || !v.At.Equal(at) {
					t.Fatalf("%+v", v)
				}
				of[v.Metric] += v.N
			}
		}
		return of
	}
	midnight := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	night, day := sum(midnight.Add(2*time.Hour), 2*time.Hour, time.Minute), sum(midnight.Add(14*time.Hour), 2*time.Hour,
		time.Minute)
	minutes, seconds := sum(midnight.Add(14*time.Hour), 20*time.Minute, time.Minute), sum(midnight.Add(14*time.Hour),
		20*time.Minute, time.Second)
	for _, source := range demo.Sources {
		name := "views " + source
		if night[name] == 0 || day[name] < 2*night[name] {
			t.Errorf("%s: %d by night, %d by day", name, night[name], day[name])
		}
		if s := float64(seconds[name]) / float64(minutes[name]); s < 0.7 || s > 1.4 {
			t.Errorf("%s: %d in minutes, %d in seconds", name, minutes[name], seconds[name])
		}
	}
	if cmp.Equal(g.Views(midnight, time.Minute), demo.New(2, 100).Views(midnight, time.Minute)) {
		t.Error("two seeds have the same views")
	}
}
