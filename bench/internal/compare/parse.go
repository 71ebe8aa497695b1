// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// measured identifies what a line of a benchmark's output measured.
type measured struct {
	bench string // without Benchmark
	peer  string // the key of a Peer
	cpu   int    // GOMAXPROCS, which is the number of concurrent goroutines
}

// sample holds the measurements of one thing in one invocation by unit: ns/op, allocs/op, and what the benchmark
// reports.
type sample map[string][]float64

// invocation is the output of the benchmarks of one toolchain in one run.
type invocation struct {
	config  map[string]string // the header above the benchmarks: go, goos, goarch, cpu
	samples map[measured]sample
}

// reader parses the output of go test -bench, line by line. The program writes a line "invocation: N" before each
// invocation, and the test binary prints "go: VERSION".
type reader struct {
	invocations []*invocation
}

// begin starts an invocation, to which all further lines belong.
func (r *reader) begin() {
	if n := len(r.invocations); n > 0 && len(r.invocations[n-1].samples) == 0 {
		r.invocations = r.invocations[:n-1]
	}
	r.invocations = append(r.invocations, &invocation{config: map[string]string{}, samples: map[measured]sample{}})
}

func (r *reader) all(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		if _, _, err := r.line(lines.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// line parses a line and returns what it measured if it is a benchmark's.
func (r *reader) line(text string) (m measured, ok bool, err error) {
	if strings.HasPrefix(text, "invocation:") || len(r.invocations) == 0 {
		r.begin()
	}
	now := r.invocations[len(r.invocations)-1]
	if !strings.HasPrefix(text, "Benchmark") {
		if key, value, found := strings.Cut(text, ": "); found {
			now.config[key] = strings.TrimSpace(value)
		}
		return m, false, nil
	}
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return m, false, nil // the name alone, which -v prints first
	}
	m = name(fields[0])
	s := now.samples[m]
	if s == nil {
		s = sample{}
		now.samples[m] = s
	}
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return m, false, fmt.Errorf("%s: %q is no number before %s", fields[0], fields[i], fields[i+1])
		}
		s[fields[i+1]] = append(s[fields[i+1]], v)
	}
	return m, true, nil
}

// name parses BenchmarkNew/peer=xid-2. The number of processors is omitted if it is 1.
func name(s string) measured {
	m := measured{cpu: 1}
	if i := strings.LastIndexByte(s, '-'); i >= 0 {
		if n, err := strconv.Atoi(s[i+1:]); err == nil {
			s, m.cpu = s[:i], n
		}
	}
	s = strings.TrimPrefix(s, "Benchmark")
	m.bench, s, _ = strings.Cut(s, "/")
	m.peer = strings.TrimPrefix(s, "peer=")
	return m
}
