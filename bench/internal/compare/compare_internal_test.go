// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// suite is a comparison of IDs, like that of bench/ids, with figures of its own.
var suite = Suite{
	Works: map[string]Work{
		"New":         {Title: "New", Parallel: true},
		"Fill":        {Title: "Fill of 64, per id", Parallel: true},
		"NewIn":       {Title: "NewIn", Parallel: true},
		"StringLocal": {Title: "String, local"},
		"Parse":       {Title: "Parse"},
		"Probes":      {Title: "Probes for a new key", Unit: "probes", Once: true},
		"Pause":       {Title: "Pause", Unit: "ms", Once: true},
		"Scan":        {Title: "Scan"},
		"Put":         {Title: "Put", Waits: true},
	},
	Peers: []Peer{
		{Key: "locus", Title: "**Locus**"},
		{Key: "locus-odd", Title: "**Locus**, one of three cells", Note: "searches up to 30 blocks"},
		{Key: "google", Title: "google/uuid"},
		{Key: "google-v7", Title: "google/uuid v7"},
		{Key: "std", Title: "std uuid"},
		{Key: "ulid", Title: "oklog/ulid", Note: "26 characters"},
		{Key: "xid", Title: "rs/xid", Note: "20 characters, seconds"},
		{Key: "fastuuid", Title: "rogpeppe/fastuuid", Note: "no time: a counter from a random start"},
		{Key: "sonyflake", Title: "sony/sonyflake", Note: "63 bits; limited to 25,600 ids/s by design"},
		{Key: "monotonic", Title: "monotonic clock, time.Since", Floor: true},
		{Key: "literal", Title: "the literal scheme"},
	},
	Goals: []Goal{
		{Bench: "New", Ours: "locus", Against: timed, Ratio: 1.5, NoAllocs: true},
		{Bench: "New", Ours: "locus", Against: Only("google-v7"), Ratio: 4},
		{Bench: "New", Ours: "locus", Against: timed, Ratio: 1.5, NoAllocs: true, Many: true},
		{Bench: "Fill", Ours: "locus", Than: "New", Against: timed, Ratio: 12, NoAllocs: true},
		{Bench: "NewIn", Ours: "locus", Against: Only("monotonic"), Ratio: 2.5, NoAllocs: true},
		{Bench: "NewIn", Ours: "locus-odd", Against: Only("monotonic"), Ratio: 2.5, NoAllocs: true},
		{Bench: "StringLocal", Ours: "locus", Against: Only("google"), Ratio: 3, NoAllocs: true},
		{Bench: "Parse", Ours: "locus", Against: long, Ratio: 1.4, NoAllocs: true},
		{Bench: "Probes", Ours: "locus", Against: Only("literal"), Ratio: 10},
		{Bench: "Pause", Ours: "locus", AtMost: 50},
		{Bench: "Scan", Ours: "locus", AtMost: 5},
	},
}

var (
	timed = Rival{"best with a time", func(key string) bool { return key == "ulid" || key == "xid" || key == "google-v7" }}
	long  = Rival{"best of 36 characters", func(key string) bool { return key == "google" || key == "std" }}
)

func TestTables(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/tables", func(_ *testing.T, d *datadriven.TestData) string {
		var read reader
		var out strings.Builder
		if err := read.all(strings.NewReader(d.Input)); err != nil {
			return err.Error()
		}
		s := suite
		s.busy = d.Cmd == "busy"
		if err := s.write(&out, read.invocations); err != nil {
			return err.Error()
		}
		return out.String()
	})
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 100, 1, 2}, 3},
	} {
		if got := median(tc.values); got != tc.want {
			t.Errorf("median(%v) = %v, want %v", tc.values, got, tc.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing = %v", got)
	}
}

// Each benchmark is in exactly one of the three ways to start.
func TestPattern_PartsTheWorks(t *testing.T) {
	t.Parallel()
	for want, chosen := range map[string]func(Work) bool{
		"^Benchmark(Fill|New|NewIn)$": func(w Work) bool { return w.Parallel },
		"^Benchmark(Pause|Probes)$":   func(w Work) bool { return w.Once },
		"^Benchmark()$":               func(Work) bool { return false },
	} {
		if got := suite.pattern(chosen); got != want {
			t.Errorf("pattern = %s, want %s", got, want)
		}
	}
}
