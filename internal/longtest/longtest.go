// SPDX-License-Identifier: Apache-2.0

// Package longtest sets how much of a test runs. There are four lengths:
//
//	go test -short   the edit loop: the smallest samples; no database, process or browser
//	go test          a fixed sample of the cases
//	the gate         go test with CI set: also the costly tests that repeat a cheaper one with more processes or
//	                 another database
//	make test/long   all cases
//
//	for n := 0; n < cases; n += longtest.Stride(5) { ... }
//	for seed := range longtest.Sample(20, 200, 300, 1000) { ... }
package longtest

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// On reports whether LOCUS_LONG is set, as make test/long does.
func On() bool { return os.Getenv("LOCUS_LONG") != "" }

// InGate reports whether CI or LOCUS_TEST is set, or LOCUS_LONG.
func InGate() bool { return On() || os.Getenv("CI") != "" || os.Getenv("LOCUS_TEST") != "" }

// Stride returns the step from one case to the next: sample as a rule, 1 in a long run.
func Stride(sample int) int { return Times(sample, 1) }

// Times returns how often a case is repeated: often as a rule, long in a long run.
func Times(often, long int) int { return Sample(often, often, often, long) }

// Sample is Times with a separate number for -short. The race detector slows simulations down and finds nothing in
// simulations that run one goroutine at a time, so raced is their number in the short run with the detector.
func Sample(short, raced, often, long int) int {
	switch {
	case testing.Short():
		return short
	case On():
		return long
	case Raced:
		return raced
	}
	return often
}

// Part returns n in the gate, and a quarter of it before, rounded up: for the rounds of a test that shows the same in
// each.
func Part(n int) int {
	if InGate() {
		return n
	}
	return (n + 3) / 4
}

// Needs skips a test under -short because it starts what: a database, a process, a browser. Helpers that start
// those call it, so most tests need not.
func Needs(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("skipped under -short: it needs %s", what)
	}
}

// Slow skips under -short a test that takes a third of a second of processor time or more.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped under -short: it is slow")
	}
}

// Gate skips a test outside of the gate, and under -short; otherwise names what go test runs instead.
func Gate(t testing.TB, otherwise string) {
	t.Helper()
	if testing.Short() || !InGate() {
		t.Skipf("left to .ci/run (CI=1): %s", otherwise)
	}
}

// Only skips a test except in a long run; otherwise names what shorter runs cover, and where.
func Only(t testing.TB, otherwise string) {
	t.Helper()
	if !On() {
		t.Skipf("left to make test/long: %s", otherwise)
	}
}

// Together sets -parallel to at least n, because tests that start processes and wait for them leave processors
// idle. A TestMain calls it; -parallel on the command line takes precedence.
func Together(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if p := flag.Lookup("test.parallel"); !given {
		if now, _ := strconv.Atoi(p.Value.String()); now < n {
			_ = flag.Set(p.Name, strconv.Itoa(n)) // it is a number
		}
	}
}

// With the small heaps of tests, the collector takes a tenth of the processor time; so the heap grows to five times the
// live data before garbage is collected, in every package whose tests import this one. GOGC takes precedence.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
