// SPDX-License-Identifier: Apache-2.0

package mutant_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// mutantMemory limits the address space of a process with a mutation, in KiB: some never stop allocating.
	mutantMemory = 8 << 20
	// mutantSlack is how many times longer tests may take with a mutation; mutantLeast (elapsed) and mutantWork
	// (processor time) are always allowed.
	mutantSlack, mutantLeast, mutantWork = 5, time.Minute, 10 * time.Second
)

// A baseline is the run of a package's tests without a mutation.
type baseline struct {
	pkg   string
	quick string // a pattern of the fastest tests, which take a tenth of the time and find most mutations
	// took and worked are the elapsed time and the processor time of all tests.
	took, worked time.Duration
	blocks       map[string][]block // by file
}

// A block is a part of a file, with whether tests of the package run it.
type block struct {
	from, to [2]int // line and column
	ran      bool
}

var (
	ended = regexp.MustCompile(`(?m)^\x16--- PASS: (\w+) \(([0-9.]+)s\)`)
	// failed matches the verdict of a test or of a subtest: output that a test logs lacks the leading \x16.
	failed = regexp.MustCompile(`(?m)^\x16 *--- FAIL: `)
	// profiled matches a line of a coverage profile.
	profiled = regexp.MustCompile(`(?m)^\S+/([^/:]+\.go):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)
)

// newBaseline runs the tests of a package.
func newBaseline(t *testing.T, pkg string) *baseline {
	t.Helper()
	dir := t.TempDir()
	binary, profile := filepath.Join(dir, "sound.test"), filepath.Join(dir, "cover")
	if out, err := compile(t, os.Environ(), pkg, binary, "-cover"); err != nil {
		t.Fatalf("build the tests of ./%s: %v\n%s", pkg, err, out)
	}
	b := &baseline{pkg: pkg, blocks: map[string][]block{}}
	begin := time.Now()
	out, state, err := b.run(t, binary, os.Environ(), 15*time.Minute, time.Hour, "-test.coverprofile="+profile)
	if err != nil {
		t.Fatalf("the tests of ./%s fail without a mutation: %v\n%s", pkg, err, out)
	}
	b.took, b.worked = time.Since(begin), state.UserTime()+state.SystemTime()
	cover, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range profiled.FindAllSubmatch(cover, -1) {
		var n [5]int
		for i, digits := range m[2:] {
			n[i], _ = strconv.Atoi(string(digits))
		}
		file := path.Join(pkg, string(m[1]))
		b.blocks[file] = append(b.blocks[file], block{from: [2]int{n[0], n[1]}, to: [2]int{n[2], n[3]}, ran: n[4] > 0})
	}
	b.quick = quickest(out)
	t.Logf("./%s: %v, %v of the processor", pkg, b.took.Round(time.Second), b.worked.Round(time.Second))
	return b
}

// quickest returns the pattern of the fastest tests that together take a tenth of the time.
func quickest(out string) string {
	type test struct {
		name string
		took float64
	}
	var tests []test
	var left float64
	for _, m := range ended.FindAllStringSubmatch(out, -1) {
		took, _ := strconv.ParseFloat(m[2], 64)
		tests = append(tests, test{m[1], took})
		left += took / 10
	}
	slices.SortFunc(tests, func(a, b test) int { return cmp.Or(cmp.Compare(a.took, b.took), cmp.Compare(a.name, b.name)) })
	var names []string
	for _, t := range tests {
		if left -= t.took; left < 0 {
			break
		}
		names = append(names, t.name)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// reached reports whether a test reaches the place of a mutation. It does not know about code in processes that a test
// starts, and case conditions, which belong to no block of coverage.
func (b *baseline) reached(m mutation) bool {
	at, ran := [2]int{m.line, m.begin - bytes.LastIndexByte(m.source[:m.begin], '\n')}, true
	for _, of := range b.blocks[m.file] {
		if slices.Compare(of.from[:], at[:]) <= 0 && slices.Compare(at[:], of.to[:]) < 0 {
			if ran = of.ran; ran {
				break
			}
		}
	}
	return ran
}

// try runs the tests with a mutation and returns the outcome, "" if it does not compile.
func (b *baseline) try(t *testing.T, m mutation) string {
	t.Helper()
	if !b.reached(m) {
		return "unreached"
	}
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) // a hundred binaries are large
	copied := filepath.Join(dir, filepath.Base(m.file))
	overlay, err := writeOverlay(dir, map[string]string{original: copied})
	// servers of tests run as another user
	if err := errors.Join(err, os.WriteFile(copied, m.apply(), 0o644), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	env, binary := append(withOverlay(overlay), "TMPDIR="+dir), filepath.Join(dir, "mutant.test")
	if _, err := compile(t, env, b.pkg, binary); err != nil {
		return ""
	}
	for _, part := range []struct {
		flag string
		most time.Duration // relative to the time of all tests
	}{{"-test.run=", 1}, {"-test.skip=", mutantSlack}} {
		out, state, err := b.run(t, binary, env, max(mutantLeast, part.most*b.took), max(mutantWork, part.most*b.worked),
			part.flag+b.quick)
		switch {
		case err == nil:
		case !failed.MatchString(out) && (state.ExitCode() == -1 || strings.Contains(out, "panic: test timed out")):
			return "endless" // by elapsed time, processor time, or memory
		default:
			return "found"
		}
	}
	return "survived"
}

// compile builds the tests of a package without debug information.
func compile(t *testing.T, env []string, pkg, binary string, flags ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go",
		append(append([]string{"test", "-c", "-ldflags=-s -w", "-o", binary}, flags...), "./"+pkg)...)
	cmd.Dir, cmd.Env = root, env
	return cmd.CombinedOutput()
}

// run runs tests of the package like CI does, up to the first failure. With a mutation they may wait for ever,
// which the timeout ends, run for ever, which the limit of processor time ends on any machine, or take all memory.
func (b *baseline) run(t *testing.T, binary string, env []string, limit, work time.Duration, flags ...string) (string, *os.ProcessState, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit+30*time.Second)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d; ulimit -t %.0f; exec "$@"`, mutantMemory, work.Seconds())
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh", binary, "-test.v=test2json", "-test.failfast", "-test.count=1", "-test.timeout=" + limit.String()}, flags...)...)
	cmd.Dir = filepath.Join(root, b.pkg)
	cmd.Env = append(env, "LOCUS_LONG=", "LOCUS_TEST=gate", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
	cmd.WaitDelay = 10 * time.Second // for processes that a test has left behind
	var out bytes.Buffer
	cmd.Stdout = &untilFailed{&out, cancel}
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	return out.String(), cmd.ProcessState, err
}

// untilFailed stops the tests at the first failure: -failfast lets waiting parallel ones continue.
type untilFailed struct {
	*bytes.Buffer
	stop func()
}

func (w *untilFailed) Write(p []byte) (int, error) {
	from := max(0, bytes.LastIndexByte(w.Bytes(), '\n')) // a line may come in parts
	n, err := w.Buffer.Write(p)
	if failed.Match(w.Bytes()[from:]) {
		w.stop()
	}
	return n, err
}
