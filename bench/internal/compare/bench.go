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

// Loop performs an operation n times. Every subject has its own loop, so that no interface or closure call lies
// between two measured operations.
type Loop func(n int)

// Subject is the subject of one line of a benchmark's output.
type Subject struct {
	Peer string // the key of a Peer
	Loop Loop
	// Each creates the loop of a goroutine, unmeasured. It replaces Loop if goroutines share nothing, or if what
	// they share is slow to create.
	Each func() Loop
	// Setup changes state of the whole process, and undo restores it.
	Setup func() (undo func())
}

// failure is the last error of a measured operation.
var failure error

// Fail records an error outside of the measured path; it fails the benchmark. Small enough to be inlined.
func Fail(err error) {
	if err != nil {
		failure = err
	}
}

// TestMain runs the tests and returns the exit code. Before benchmarks it prints the Go version that compiled them,
// which the program reads.
func TestMain(m interface{ Run() int }) int {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		fmt.Println("go:", runtime.Version())
	}
	return m.Run()
}

// Run measures subjects. Parallel work runs in as many goroutines as there are processors, as set by go test -cpu.
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

// share is testing.B.RunParallel with many turns per request: requesting each separately would cost as much as some
// of the works.
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

// Check runs one turn of each benchmark in the calling test binary. It fails the test if a benchmark fails, has no
// title or an unknown peer, or if a goal lacks one of its sides although its benchmark was not skipped. Times of
// one turn are meaningless and ignored; testing.Short reduces the work. without reports the goals that cannot be
// measured here; nil means none.
func (s *Suite) Check(t *testing.T, without func(Goal) bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench=.", "-test.benchtime=1x",
		"-test.cpu=1,2", "-test.short", "-test.v")
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
		// A key that ends in -NUMBER would be read as a number of processors.
		if got := name("BenchmarkX/peer=" + p.Key); got != (measured{bench: "X", peer: p.Key, cpu: 1}) {
			t.Errorf("%s is read as %+v", p.Key, got)
		}
		if seen[p.Key] {
			t.Errorf("%s stands twice", p.Key)
		}
		seen[p.Key] = true
	}
}
