// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// asDocumented are the options of the figures in the documentation.
var asDocumented = options{shards: 8, size: 2000}

var all = sync.OnceValue(func() []*spread { return computeAll(asDocumented) })

// of returns the result for a kind.
func of(t *testing.T, name string) *spread {
	t.Helper()
	for _, s := range all() {
		if s.kind.name == name {
			return s
		}
	}
	t.Fatalf("there is no kind %s", name)
	return nil
}

func TestShares_AddUp(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, s := range all() {
		for _, length := range []int{short, long, minutes} {
			slots := s.slots(0, minutes, length)
			if len(slots) != minutes/length {
				t.Errorf("%s: %d slots of %d minutes", s.kind.name, len(slots), length)
			}
			for _, at := range slots {
				sum := 0.0
				for _, share := range at.shares {
					sum += share
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Errorf("%s: the shares at %s are %v, together %g", s.kind.name, clock(at.begin), at.shares, sum)
				}
			}
		}
	}
}

// The statements of the documentation about each kind.
func TestKinds_HeatOrSpread(t *testing.T) {
	t.Parallel()
	const n = 8
	for _, name := range []string{"objectid", "uuidv7"} {
		if s := of(t, name); s.hottest(short) < 0.999 || s.hottest(minutes) < 0.999 {
			t.Errorf("%s: one shard takes everything, at all times: %g of a minute, %g of the day", name, s.hottest(short),
				s.hottest(minutes))
		}
	}
	if s := of(t, "sequential"); s.hottest(long) < 0.99 || s.hottest(minutes) > 2.0/n {
		t.Errorf("sequential: one shard takes a window, another one the next: %g, %g of the day", s.hottest(long),
			s.hottest(minutes))
	}
	if s := of(t, "uuidv1"); s.hottest(short) < 0.5 || s.hottest(long) > 2.0/n {
		t.Errorf("uuidv1: the first bytes come around every 7 minutes: %g of a minute, %g of ten", s.hottest(short),
			s.hottest(long))
	}
	for _, name := range []string{"uuidv4", "variable", "near"} {
		s := of(t, name)
		for _, at := range s.slots(0, minutes, short) {
			for shard, share := range at.shares {
				if share >= 2.0/n {
					t.Errorf("%s: shard %d takes %g of the minute at %s", name, shard+1, share, clock(at.begin))
				}
			}
		}
		if s.busy(short) != n {
			t.Errorf("%s: %g shards are busy", name, s.busy(short))
		}
	}
	// Variable order is more even than chance.
	if variable, random := of(t, "variable").hottest(short), of(t, "uuidv4").hottest(short); variable >= random {
		t.Errorf("variable order: %g on the hottest shard of a minute, random keys %g", variable, random)
	}
	if s := of(t, "near"); s.whole < 0.999 {
		t.Errorf("near: %g of the families are on one shard", s.whole)
	}
	if s := of(t, "variable"); s.whole > 0.01 {
		t.Errorf("variable: %g of the families are on one shard by chance", s.whole)
	}
}

// Before MongoDB 6.0.3 chunks were split differently, and the picture is the same.
func TestAutosplit_ChangesNothingToSee(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	o := asDocumented
	o.autosplit = true
	for _, name := range []string{"objectid", "variable"} {
		s := of(t, name)
		if before := compute(s.kind, o); math.Abs(before.hottest(short)-s.hottest(short)) > 0.01 || math.Abs(before.hottest(minutes)-s.hottest(minutes)) > 0.05 {
			t.Errorf("%s: %g of a minute and %g of the day, before 6.0.3 %g and %g", name, s.hottest(short), s.hottest(minutes),
				before.hottest(short), before.hottest(minutes))
		}
	}
}

// The documentation shows what the program computes now; make bench/spread writes the files.
func TestDocs_AreWhatIsComputed(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	if read("mongodb.csv") != csv(all()) {
		t.Error("docs/mongodb.csv is not what is computed: make bench/spread")
	}
	if read("mongodb.svg") != picture(all(), computed(asDocumented)) {
		t.Error("docs/mongodb.svg is not what is computed: make bench/spread")
	}
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "mongodb*.md"))
	if err != nil {
		t.Fatal(err)
	}
	want, shown := table(all()), false
	for _, page := range pages {
		shown = shown || strings.Contains(read(filepath.Base(page)), want)
	}
	if !shown {
		t.Errorf("no docs/mongodb*.md has the table that is computed; make bench/spread prints it:\n%s", want)
	}
}
