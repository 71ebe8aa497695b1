// SPDX-License-Identifier: Apache-2.0

// Package rounds measures something several times and prints what came out: what bench/counters and
// bench/rollups have in common. The measurement is TestMeasure of the program's own package, since servers are made for
// tests; a round of it writes a report, as roundstest.Measure does.
package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Program measures rounds, whose reports are R.
type Program[R any] struct {
	// Package is the import path of the program.
	Package string
	// Options answers with those of a round, which are handed to the measurement as JSON.
	Options func(round int) any
	// Args are for the test binary besides.
	Args []string
	// Tables, Picture and CSV print the reports: Markdown, SVG, and the figures of both.
	Tables, Picture, CSV func([]R) string
}

// Reports measures n rounds, and keeps them in the file save if that is not "". If from is not "" it measures nothing,
// but reads such a file.
func (p *Program[R]) Reports(ctx context.Context, n int, from, save string) (all []R, err error) {
	if from != "" {
		text, err := os.ReadFile(from)
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
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, p.Package).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the measurements: %w\n%s", err, out)
	}
	for round := range n {
		fmt.Fprintf(os.Stderr, "%d of %d, %s\n", round+1, n, time.Now().Format(time.TimeOnly))
		r, err := p.measure(ctx, binary, p.Options(round), out)
		if err != nil {
			return nil, err
		}
		// What was paid for is kept, whatever becomes of the next round.
		if all = append(all, r); save != "" {
			text, err := json.Marshal(all)
			if err == nil {
				err = os.WriteFile(save, append(text, '\n'), 0o600)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// measure starts the test binary once.
func (p *Program[R]) measure(ctx context.Context, binary string, options any, report string) (r R, err error) {
	text, err := json.Marshal(options)
	if err != nil {
		return r, err
	}
	args := append([]string{"-test.run=^TestMeasure$", "-test.timeout=0", "-measure", string(text), "-report", report}, p.Args...)
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

// Print prints the tables, and writes name.svg and name.csv if name is not "".
func (p *Program[R]) Print(w io.Writer, name string, reports []R) error {
	if len(reports) == 0 {
		return errors.New("nothing was measured")
	}
	if _, err := io.WriteString(w, p.Tables(reports)); err != nil || name == "" {
		return err
	}
	if err := os.WriteFile(name+".svg", []byte(p.Picture(reports)), 0o644); err != nil { //nolint:gosec // for everybody to read
		return err
	}
	return os.WriteFile(name+".csv", []byte(p.CSV(reports)), 0o644) //nolint:gosec // for everybody to read
}
