// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/cli"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/internal/pgtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(asLocus) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	goleak.VerifyTestMain(mongotest.Main(pgtest.Main(m)))
}

// A short run of every measurement, which also checks that each method counts correctly.
func TestMeasure_Little(t *testing.T) {
	t.Parallel()
	methods := []string{"locus", "growing", "tree", "rows", "locus-sqlite", "growing-sqlite", "locus-sqlite-http",
		"locus-sqlite-client"}
	if _, redis := findRedis(t); strings.HasPrefix(redis, "Redis 7") {
		methods = append(methods, "redis", "redis-everysec")
	} else {
		t.Log(redis)
	}
	r := measure(t, Options{Metrics: 10, Batch: 5, Tx: 1, Every: 360, Shuffle: true, Round: 1, Seconds: 0.01, Callers: 8,
		Around: 50, Methods: methods}, mongoServer{})
	if r.Syncs <= 0 {
		t.Error("the disk was not measured")
	}
	for _, m := range dayWays {
		d := r.day(m.key)
		if d == nil && r.method(m.key) {
			t.Errorf("%s: no day", m.key)
		}
		if d != nil && len(d.Dots) != 4 {
			t.Errorf("%s: %v", m.key, d.Dots)
		}
	}
	for _, m := range callerWays {
		if len(loads([]Report{*r}, m.key)) == 0 && r.method(m.key) {
			t.Errorf("%s: no callers", m.key)
		}
	}
	if len(r.Turns) != len(turnWays) {
		t.Errorf("turns: %+v", r.Turns)
	}
}

// memory is a target that loses a hit now and then.
type memory struct {
	counts []atomic.Int64
	forget bool
}

func (m *memory) add(_ context.Context, _ int, c call) error {
	for i, metric := range c.metrics {
		if m.forget && i == 0 {
			continue
		}
		m.counts[metric].Add(1)
	}
	return nil
}

func (m *memory) sums(context.Context) (all []int64, err error) {
	for i := range m.counts {
		all = append(all, m.counts[i].Load())
	}
	return all, nil
}

func (*memory) close() error { return nil }

// A wrong sum fails, and so do levels that differ.
func TestSums(t *testing.T) {
	t.Parallel()
	for _, forget := range []bool{false, true} {
		m := &memory{make([]atomic.Int64, 7), forget}
		want := make([]atomic.Int64, 7)
		waits, err := drive(t.Context(), m, Load{Callers: 3, Batch: 4, Metrics: 7}, time.Millisecond, want)
		if err != nil || len(waits) < 3 {
			t.Fatalf("%d calls, %v", len(waits), err)
		}
		if err := compare(t.Context(), m, func(i int) int64 { return want[i].Load() }); (err != nil) != forget {
			t.Errorf("forget %v: %v", forget, err)
		}
	}
	s := newSums([]string{"a", "b"})
	if err := errors.Join(s.add("1/a", 2, 2, 2), s.add("2/a", 1, 1, 1)); err != nil || !slices.Equal(s.all, []int64{3, 0}) {
		t.Errorf("%v, %v", s.all, err)
	}
	for _, levels := range [][3]int64{{1, 2, 1}, {1, 1, 2}} {
		if err := s.add("1/b", levels[0], levels[1], levels[2]); err == nil {
			t.Errorf("%v are no sums of one another", levels)
		}
	}
}

// Every hour occurs once, with its minutes in order.
func TestShuffled(t *testing.T) {
	t.Parallel()
	all := minutes(20)
	mixed := shuffled(all, rand.New(rand.NewPCG(1, 2)))
	if slices.Equal(mixed, all) {
		t.Error("nothing has another place")
	}
	for i := 0; i < len(mixed); i += 3 {
		if mixed[i+1]-mixed[i] != 20*time.Minute || mixed[i+2]-mixed[i] != 40*time.Minute {
			t.Errorf("an hour has %v", mixed[i:i+3])
		}
	}
	if slices.Sort(mixed); !slices.Equal(mixed, all) {
		t.Errorf("got %v", mixed)
	}
}
