// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
)

type (
	loop    = compare.Loop
	subject = compare.Subject
)

// std holds the subjects of the standard library's uuid by benchmark. It is empty for a Go without.
var std map[string][]subject

// Sinks: what is stored in them cannot be left out by the compiler. Loops that several goroutines
// run keep what they make for themselves instead, or the sink's cache line would be measured.
var (
	textSink string
	byteSink byte
	id12Sink [12]byte
	id16Sink [16]byte
	id20Sink [20]byte
)

func TestMain(m *testing.M) { os.Exit(compare.TestMain(m)) }

// measure measures subjects, those of the standard library among them.
func measure(b *testing.B, subjects ...subject) {
	suite.Run(b, append(subjects, std[strings.TrimPrefix(b.Name(), "Benchmark")]...)...)
}

// Every benchmark runs, is known to the tables, and no goal is left without its two sides.
func TestBenchmarks_MeasureWhatTheTablesShow(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	suite.Check(t, func(g compare.Goal) bool { return std == nil && needsStd(g.Against) })
}

// needsStd tells whether only the standard library will do.
func needsStd(r compare.Rival) bool {
	for _, p := range peers {
		if r.Fits(p.key) && !strings.HasPrefix(p.key, "std") {
			return false
		}
	}
	return true
}

func generator(b *testing.B, opts *locality.Options) *locality.Generator {
	b.Helper()
	g, err := locality.NewGenerator(opts)
	if err != nil {
		b.Fatal(err)
	}
	return g
}
