// SPDX-License-Identifier: Apache-2.0

// Package longtest says how much of a test runs. There are three lengths: go test -short, for the loop of editing,
// starts no database, process or browser and takes the smallest samples; the gate takes a sample of the cases, always
// the same one; make test/long takes them all.
//
//	for n := 0; n < cases; n += longtest.Stride(5) { ... }
//	for seed := range longtest.Sample(20, 200, 300, 1000) { ... }
package longtest

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// On reports whether LOCUS_LONG is set, as make test/long sets it.
func On() bool { return os.Getenv("LOCUS_LONG") != "" }

// Stride is how far it is from one case to the next: sample in the gate, 1 in a long run.
func Stride(sample int) int { return Times(sample, 1) }

// Times is how often a case is repeated: gate in the gate, long in a long run.
func Times(gate, long int) int { return Sample(gate, gate, gate, long) }

// Sample is Times with a number for -short too. The race detector makes simulations slow and, where one goroutine runs
// at a time, has nothing to see in them: raced is their number in the gate with the detector.
func Sample(short, raced, gate, long int) int {
	switch {
	case testing.Short():
		return short
	case On():
		return long
	case Raced:
		return raced
	}
	return gate
}

// Needs skips a test under -short, because it starts what: a database, a process, a browser. What starts those for
// tests calls it, so that a test that needs nothing else need not.
func Needs(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("skipped under -short: it needs %s", what)
	}
}

// Slow skips a test under -short that takes about a second of a processor, or more.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped under -short: it takes a second or more")
	}
}

// Only skips a test but in a long run, and says which part of it the gate shows, and where.
func Only(t testing.TB, gate string) {
	t.Helper()
	if !On() {
		t.Skipf("left to make test/long: %s", gate)
	}
}

// Together has at least n tests of the binary run at a time, whatever the machine: tests that start processes and wait
// for them leave processors idle. A TestMain calls it; -parallel on the command line wins.
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
