// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/locality"
)

// A loop does the same n times. Every subject has a loop of its own, so that nothing is called
// through an interface or a closure between two measured operations.
type loop func(n int)

// subject is what one line of a benchmark's output is about.
type subject struct {
	peer string // a key of peers
	loop loop
	// each makes the loop of a goroutine, in place of loop, if goroutines share nothing.
	each func() loop
	// setup changes what the whole process uses, and undo changes it back.
	setup func() (undo func())
}

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
	failure  error
)

// fail notes an error outside of the measured path. Small enough to be inlined.
func fail(err error) {
	if err != nil {
		failure = err
	}
}

// TestMain says above the benchmarks which Go compiled them; the reader wants to know.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		fmt.Println("go:", runtime.Version())
	}
	m.Run()
}

// compare measures subjects. Those that mint do so with as many goroutines as there are processors,
// which go test -cpu chooses.
func compare(b *testing.B, subjects ...subject) {
	bench := strings.TrimPrefix(b.Name(), "Benchmark")
	for _, s := range append(subjects, std[bench]...) {
		b.Run("peer="+s.peer, func(b *testing.B) {
			if s.setup != nil {
				defer s.setup()()
			}
			if s.each == nil {
				s.each = func() loop { return s.loop }
			}
			failure = nil
			b.ReportAllocs()
			b.ResetTimer()
			if slices.Contains(minting, bench) && runtime.GOMAXPROCS(0) > 1 {
				share(b.N, s.each)
			} else {
				s.each()(b.N)
			}
			if failure != nil {
				b.Fatal(failure)
			}
		})
	}
}

// share does what testing.B.RunParallel does, but hands out many turns at a time: asking for each
// would cost as much as some of the ids.
func share(n int, each func() loop) {
	procs := runtime.GOMAXPROCS(0)
	turns := min(max(n/procs/16, 1), 4096)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range procs {
		wg.Go(func() {
			loop := each()
			for {
				end := int(taken.Add(int64(turns)))
				if end-turns >= n {
					return
				}
				loop(turns - max(end-n, 0))
			}
		})
	}
	wg.Wait()
}

func generator(b *testing.B, opts *locality.Options) *locality.Generator {
	b.Helper()
	g, err := locality.NewGenerator(opts)
	if err != nil {
		b.Fatal(err)
	}
	return g
}
