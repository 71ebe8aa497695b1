// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

func TestTables(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/tables", func(_ *testing.T, d *datadriven.TestData) string {
		var read reader
		var out strings.Builder
		if err := read.all(strings.NewReader(d.Input)); err != nil {
			return err.Error()
		}
		if err := write(&out, read.invocations); err != nil {
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

// A name that ends in a number would be taken for one that was measured with so many processors.
func TestPeers_HaveNamesThatCanBeRead(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range peers {
		want := measured{bench: "New", peer: p.key, cpu: 1}
		if got := name("BenchmarkNew/peer=" + p.key); got != want {
			t.Errorf("%s is read as %+v", p.key, got)
		}
		if seen[p.key] {
			t.Errorf("%s stands twice", p.key)
		}
		seen[p.key] = true
	}
}

// Every benchmark runs, is known to the tables, and no goal is left without its two sides. Times of
// one turn say nothing and are not looked at.
func TestBenchmarks_MeasureWhatTheTablesShow(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.cpu=1,2")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var read reader
	if err := read.all(strings.NewReader(string(out))); err != nil {
		t.Fatal(err)
	}
	if len(read.invocations) != 1 {
		t.Fatalf("read %d invocations\n%s", len(read.invocations), out)
	}
	r := runs(read.invocations)
	if got := r[0].config["go"]; got != runtime.Version() {
		t.Errorf("compiled with %q, want %q", got, runtime.Version())
	}
	known := map[string]bool{}
	for _, p := range peers {
		known[p.key] = true
	}
	for _, m := range r.measured() {
		if titles[m.bench] == "" || !known[m.peer] {
			t.Errorf("%+v has no title", m)
		}
	}
	for _, g := range goals {
		cpu := 1
		if g.many {
			cpu = 2
		}
		if _, ok := r.result(g, cpu); !ok && (std != nil || !g.against.std()) {
			t.Errorf("%s of %s: nothing to compare with", g.bench, g.ours)
		}
	}
}

// std tells whether only the standard library will do.
func (r rival) std() bool {
	return !slices.ContainsFunc(peers, func(p peer) bool { return r.fits(p) && !strings.HasPrefix(p.key, "std") })
}
