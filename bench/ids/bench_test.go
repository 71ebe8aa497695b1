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

// std holds the subjects of the standard library's uuid by benchmark. It is empty for a Go without that package.
var std map[string][]subject

// Sinks: the compiler cannot eliminate what is stored in them. Loops that run in several goroutines keep their
// results locally instead; otherwise contention on the sink's cache line would be measured.
var (
	textSink string
	byteSink byte
	id12Sink [12]byte
	id16Sink [16]byte
	id20Sink [20]byte
)

func TestMain(m *testing.M) { os.Exit(compare.TestMain(m)) }

// measure measures subjects, and those of the standard library.
func measure(b *testing.B, subjects ...subject) {
	suite.Run(b, append(subjects, std[strings.TrimPrefix(b.Name(), "Benchmark")]...)...)
}

// Every benchmark runs and appears in the tables, and every goal has both sides.
func TestBenchmarks_MeasureWhatTheTablesShow(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	suite.Check(t, func(g compare.Goal) bool { return std == nil && needsStd(g.Against) })
}

// needsStd reports whether only the standard library fits.
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
