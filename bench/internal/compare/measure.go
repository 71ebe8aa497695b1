// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measure builds one test binary per toolchain and runs them in turn, so that a slow period of the machine affects
// all of them. Their output goes to read and to saved.
func (s *Suite) measure(ctx context.Context, o options, read *reader, saved io.Writer) error {
	dir, err := os.MkdirTemp("", "locus-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var binaries []string
	for _, toolchain := range append([]string{""}, strings.FieldsFunc(o.toolchains, func(r rune) bool { return r == ',' })...) {
		binary := filepath.Join(dir, "bench"+toolchain+".test")
		fmt.Fprintln(os.Stderr, "building with", cmp.Or(toolchain, "the go command's toolchain"))
		if err := s.build(ctx, toolchain, binary); err != nil {
			return err
		}
		binaries = append(binaries, binary)
	}
	begin := time.Now()
	for i := range o.invocations {
		for j, binary := range binaries {
			head := fmt.Sprintf("invocation: %d\n", len(read.invocations)+1)
			read.begin()
			if _, err := io.WriteString(saved, head); err != nil {
				return err
			}
			done, all := i*len(binaries)+j, o.invocations*len(binaries)
			fmt.Fprintf(os.Stderr, "%d of %d%s:", done+1, all, left(time.Since(begin), done, all))
			if err := s.invoke(ctx, o, binary, read, saved); err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr)
		}
	}
	return nil
}

// left estimates the remaining time, once that is possible.
func left(spent time.Duration, done, all int) string {
	if done == 0 {
		return ""
	}
	rest := spent / time.Duration(done) * time.Duration(all-done)
	return fmt.Sprintf(" (%v left)", rest.Round(time.Second))
}

func (s *Suite) build(ctx context.Context, toolchain, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, s.Package)
	cmd.Env = os.Environ()
	if toolchain != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+toolchain)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the benchmarks: %w\n%s", cmp.Or(ctx.Err(), err), out)
	}
	return nil
}

// invoke runs a test binary for the benchmarks that several goroutines can share, for those that need one, and for
// those that run once.
func (s *Suite) invoke(ctx context.Context, o options, binary string, read *reader, saved io.Writer) error {
	one, _, _ := strings.Cut(o.cpu, ",")
	several := s.pattern(func(w Work) bool { return w.Parallel })
	once := s.pattern(func(w Work) bool { return w.Once })
	count, benchtime := "-test.count="+strconv.Itoa(o.count), "-test.benchtime="+o.benchtime.String()
	for _, args := range [][]string{
		{"-test.bench=" + several, "-test.cpu=" + o.cpu, count, benchtime},
		{"-test.bench=.", "-test.skip=" + several + "|" + once, "-test.cpu=" + one, count, benchtime},
		{"-test.bench=" + once, "-test.cpu=" + one, "-test.count=1", "-test.benchtime=1x"},
	} {
		common := []string{"-test.run=^$", "-test.benchmem", "-test.timeout=0"}
		if err := start(ctx, binary, append(args, common...), read, saved); err != nil {
			return err
		}
	}
	return nil
}

// pattern matches the benchmarks whose works are chosen.
func (s *Suite) pattern(chosen func(Work) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.Works)) {
		if chosen(s.Works[name]) {
			names = append(names, name)
		}
	}
	return "^Benchmark(" + strings.Join(names, "|") + ")$"
}

func start(ctx context.Context, binary string, args []string, read *reader, saved io.Writer) error {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var bench string
	lines := bufio.NewScanner(io.TeeReader(out, saved))
	for lines.Scan() {
		if m, ok, err := read.line(lines.Text()); err != nil {
			return err
		} else if ok && m.bench != bench {
			bench = m.bench
			fmt.Fprint(os.Stderr, " ", bench)
		}
	}
	if err := cmp.Or(lines.Err(), cmd.Wait()); err != nil {
		return fmt.Errorf("run the benchmarks: %w", cmp.Or(ctx.Err(), err))
	}
	return nil
}
