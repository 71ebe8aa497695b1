// SPDX-License-Identifier: Apache-2.0

// Package rounds repeats a measurement and prints the results. It is the common part of bench/counters and
// bench/rollups. The measurement is TestMeasure of the program's own package, because servers are started by test
// helpers; each round writes a report, see roundstest.Measure.
package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// Program measures rounds, whose reports are R.
type Program[R any] struct {
	// Name is the name of the program, and of its package below the module: bench/counters.
	Name string
	// Options returns the options of a round, which are passed to the measurement as JSON.
	Options func(round int) any
	// Args are additional arguments for the test binary.
	Args []string
	// Tables, Picture and CSV print the reports: Markdown, SVG, and the data of both.
	Tables, Picture, CSV func([]R) string

	n                   int
	save, from, picture string
}

// Flags defines the flags that all programs have; often is the name of the flag for the number of rounds, n its
// default.
func (p *Program[R]) Flags(often string, n int) {
	flag.IntVar(&p.n, often, n, "how often everything is measured")
	flag.StringVar(&p.save, "save", "", "file to keep what was measured")
	flag.StringVar(&p.from, "from", "", "measure nothing: read a file that -save wrote")
	flag.StringVar(&p.picture, "picture", "", "write this name with .svg and .csv")
}

// Main measures according to the parsed flags, prints the tables, and returns the exit code.
func (p *Program[R]) Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	reports, err := p.reports(ctx)
	if err == nil {
		err = p.print(os.Stdout, reports)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		return 1
	}
	return 0
}

// reports measures the rounds, or reads saved ones.
func (p *Program[R]) reports(ctx context.Context) (all []R, err error) {
	if p.from != "" {
		text, err := os.ReadFile(p.from)
		if err != nil {
			return nil, err
		}
		return all, json.Unmarshal(text, &all)
	}
	dir, err := os.MkdirTemp("", "locus-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary, out := filepath.Join(dir, "measure.test"), filepath.Join(dir, "report.json")
	fmt.Fprintln(os.Stderr, "building")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "github.com/locus-db/locus/"+p.Name).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the measurements: %w\n%s", err, out)
	}
	for round := range p.n {
		fmt.Fprintf(os.Stderr, "%d of %d, %s\n", round+1, p.n, time.Now().Format(time.TimeOnly))
		r, err := p.measure(ctx, binary, p.Options(round), out)
		if err != nil {
			return nil, err
		}
		// Finished rounds are saved even if a later one fails.
		if all = append(all, r); p.save != "" {
			text, err := json.Marshal(all)
			if err == nil {
				err = os.WriteFile(p.save, append(text, '\n'), 0o600)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// measure runs the test binary once.
func (p *Program[R]) measure(ctx context.Context, binary string, options any, report string) (r R, err error) {
	text, err := json.Marshal(options)
	if err != nil {
		return r, err
	}
	args := append([]string{"-test.run=^TestMeasure$", "-test.timeout=0", "-measure", string(text), "-report", report},
		p.Args...)
	cmd := exec.CommandContext(ctx, binary, args...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("measure: %w\n%s", err, out.String())
	}
	text, err = os.ReadFile(report)
	if err != nil {
		return r, fmt.Errorf("measure: %w\n%s", err, out.String())
	}
	return r, json.Unmarshal(text, &r)
}

// print prints the tables, and writes the picture and its data if requested.
func (p *Program[R]) print(w io.Writer, reports []R) error {
	if len(reports) == 0 {
		return errors.New("nothing was measured")
	}
	if _, err := io.WriteString(w, p.Tables(reports)); err != nil || p.picture == "" {
		return err
	}
	if err := os.WriteFile(p.picture+".svg", []byte(p.Picture(reports)), 0o644); err != nil { //nolint:gosec // world-readable
		return err
	}
	return os.WriteFile(p.picture+".csv", []byte(p.CSV(reports)), 0o644) //nolint:gosec // world-readable
}
