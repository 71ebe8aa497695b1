// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/bench/internal/rounds"
	"github.com/locus-db/locus/bench/internal/rounds/roundstest"
	"github.com/locus-db/locus/internal/pgtest"
)

// TestMeasure is a round of the program.
func TestMeasure(t *testing.T) {
	t.Parallel()
	roundstest.Measure(t, func(tb testing.TB, o Options) *Report {
		tb.Helper()
		m, err := findMongoDB(tb.Context(), os.Getenv(givenMongoDB))
		if err != nil {
			tb.Fatalf("-mongodb: %v", err)
		}
		return measure(tb, o, m)
	})
}

// bench is a round.
type bench struct {
	*Report
	tb      testing.TB
	server  *pgtest.Server
	redis   string // the program, "" if there is none
	mongodb mongoServer
	started []*process // besides the server
	// installations is the number created on the server.
	installations int
}

// measure creates everything afresh and measures each method.
func measure(tb testing.TB, o Options, given mongoServer) *Report {
	tb.Helper()
	if given.uri == "" && slices.ContainsFunc(o.Methods, onMongoDB) {
		tb.Fatalf("%v: no MongoDB was given: name it with -mongodb", o.Methods)
	}
	b := &bench{tb: tb, mongodb: given, Report: &Report{Options: o, Machine: rounds.Machine(), MongoDB: given.text}}
	b.server = pgtest.Start(tb, &pgtest.Options{MaxConnections: 700, Settings: map[string]string{
		"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min",
	}})
	b.redis, b.Redis = findRedis(tb)
	var err error
	if b.Syncs, err = syncs(tb.TempDir(), b.seconds(1)); err != nil {
		tb.Fatal(err)
	}
	ctx := tb.Context()
	for _, part := range []struct {
		name    string
		methods []way
		do      func(context.Context, way) error
	}{
		{"day", b.with(dayWays, mongoDays), b.day},
		{"callers", b.with(callerWays, mongoCallers), b.callers},
		{"turn", turnWays, b.turn},
	} {
		if !o.part(part.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, " %s:", part.name)
		for i := range part.methods {
			m := part.methods[(i+o.Round*3)%len(part.methods)]
			if !o.method(m.key) || b.redis == "" && strings.HasPrefix(m.key, "redis") {
				continue
			}
			fmt.Fprintf(os.Stderr, " %s", m.key)
			if err := part.do(ctx, m); err != nil {
				tb.Fatalf("%s, %s: %v", part.name, m.key, err)
			}
		}
		fmt.Fprintln(os.Stderr)
	}
	return b.Report
}

// with returns the methods, including those on MongoDB if one was given.
func (b *bench) with(ways, mongo []way) []way {
	if b.mongodb.uri == "" {
		return ways
	}
	return slices.Concat(ways, mongo)
}

// way is a method, with a function that opens its target.
type way struct {
	key  string
	open func(context.Context, *bench, setting) (target, error)
}

// setting describes the target to open.
type setting struct {
	metrics int
	callers int // maximum
	// now is the clock of a simulation; nil is the real one.
	now        func() time.Time
	unprepared bool
	servers    int // that share one cell; 0 means one
}

// little reports whether this is the short test run, which measures nothing accurately.
func (b *bench) little() bool { return b.Seconds < 0.1 }

// seconds returns a duration, shortened in the short test run.
func (b *bench) seconds(s float64) time.Duration {
	return time.Duration(min(s, 20*b.Seconds) * float64(time.Second))
}

// call is some hits at one time.
type call struct {
	metrics []int32 // to hit, once per occurrence
	at      time.Time
	key     string // makes it count once
}

// target counts the hits.
type target interface {
	// add counts a call and returns when it is durable. Each caller has a number.
	add(ctx context.Context, caller int, c call) error
	// sums returns the totals of the metrics, read at each level. It returns an error if two levels differ.
	sums(ctx context.Context) ([]int64, error)
	close() error
}

// grouping is a target that knows the number of hits per commit.
type grouping interface {
	// groups returns the commits since the last call, and their hits.
	groups() (commits, hits int64)
}

// logging is a target that knows the size of its log in bytes.
type logging interface {
	logged(ctx context.Context) (int64, error)
}

// sized is a target that knows its size in bytes.
type sized interface {
	size(ctx context.Context) (int64, error)
}

// syncs returns how often per second an existing block can be rewritten durably.
func syncs(dir string, d time.Duration) (float64, error) {
	f, err := os.CreateTemp(dir, "sync")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	const block, blocks = 8192, 256
	if _, err := f.Write(make([]byte, block*blocks)); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	n, began := 0, time.Now()
	for text := make([]byte, block); n == 0 || time.Since(began) < d; n++ {
		text[0] = byte(n)
		if _, err := f.WriteAt(text, int64(n%blocks*block)); err != nil {
			return 0, err
		}
		if err := datasync(f); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// names returns the names of the metrics.
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("page /articles/%07d.html", i)
	}
	return all
}
