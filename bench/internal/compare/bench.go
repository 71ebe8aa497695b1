// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/bench/internal/processor"
)

// Loop does the same n times. Every subject has a loop of its own, so that nothing is called
// through an interface or a closure between two measured operations.
type Loop func(n int)

// Subject is what one line of a benchmark's output is about.
type Subject struct {
	Peer string // the key of a Peer
	Loop Loop
	// Each makes the loop of a goroutine, in place of Loop, if goroutines share nothing, or if what
	// they share takes long to make. It is not measured.
	Each func() Loop
	// Setup changes what the whole process uses, and undo changes it back.
	Setup func() (undo func())
}

// failure is the last error of a measured operation.
var failure error

// Fail notes an error outside of the measured path; it fails the benchmark. Small enough to be
// inlined.
func Fail(err error) {
	if err != nil {
		failure = err
	}
}

// TestMain runs the tests and says above benchmarks which Go compiled them; the program wants to
// know. It answers with what the process should exit with.
func TestMain(m interface{ Run() int }) int {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		fmt.Println("go:", runtime.Version())
	}
	return m.Run()
}

// Run measures subjects. Work that is Parallel is done by as many goroutines as there are
// processors, which go test -cpu chooses.
func (s *Suite) Run(b *testing.B, subjects ...Subject) {
	work := s.Works[strings.TrimPrefix(b.Name(), "Benchmark")]
	for _, subject := range subjects {
		b.Run("peer="+subject.Peer, func(b *testing.B) {
			if subject.Setup != nil {
				defer subject.Setup()()
			}
			if subject.Each == nil {
				subject.Each = func() Loop { return subject.Loop }
			}
			failure = nil
			loops := []Loop{subject.Each()}
			for work.Parallel && len(loops) < runtime.GOMAXPROCS(0) {
				loops = append(loops, subject.Each())
			}
			b.ReportAllocs()
			b.ResetTimer()
			busy := processor.Time()
			if len(loops) > 1 {
				share(b.N, loops)
			} else {
				loops[0](b.N)
			}
			if busy = processor.Time() - busy; busy > 0 {
				b.ReportMetric(float64(busy)/float64(b.N), busyUnit)
			}
			if failure != nil {
				b.Fatal(failure)
			}
		})
	}
}

// share does what testing.B.RunParallel does, but hands out many turns at a time: asking for each
// would cost as much as some of the works.
func share(n int, loops []Loop) {
	turns := min(max(n/len(loops)/16, 1), 4096)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for _, loop := range loops {
		wg.Go(func() {
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

// Check starts the test binary that it is called in for one turn of each benchmark, and fails the
// test if one of them fails, has no title or an unknown peer, or if a goal lacks one of its sides though
// its benchmark was not skipped. Times of one turn say nothing and are not looked at; testing.Short asks
// for little work. without tells which goals cannot be measured here; nil is none.
func (s *Suite) Check(t *testing.T, without func(Goal) bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.cpu=1,2", "-test.short", "-test.v")
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
	for _, m := range s.measured(r) {
		if s.Works[m.bench].Title == "" || s.rank(m.peer) < 0 {
			t.Errorf("%+v has no title", m)
		}
	}
	for _, g := range s.Goals {
		cpu := 1
		if g.Many {
			cpu = 2
		}
		skipped := strings.Contains(string(out), "--- SKIP: Benchmark"+g.Bench+"\n")
		if _, ok := s.result(r, g, cpu); !ok && !skipped && (without == nil || !without(g)) {
			t.Errorf("%s of %s: nothing to compare with", g.Bench, g.Ours)
		}
	}
	seen := map[string]bool{}
	for _, p := range s.Peers {
		// A key that ends in a number would be taken for one that was measured with so many processors.
		if got := name("BenchmarkX/peer=" + p.Key); got != (measured{bench: "X", peer: p.Key, cpu: 1}) {
			t.Errorf("%s is read as %+v", p.Key, got)
		}
		if seen[p.Key] {
			t.Errorf("%s stands twice", p.Key)
		}
		seen[p.Key] = true
	}
}
