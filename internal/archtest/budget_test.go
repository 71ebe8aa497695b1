// SPDX-License-Identifier: Apache-2.0

//go:build unix

package archtest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// timed runs .ci/timed and returns its output and exit code.
func timed(t *testing.T, times string, args ...string) (string, int) {
	t.Helper()
	script, err := filepath.Abs("../../.ci/timed")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "LOCUS_TIMES="+times)
	out, err := cmd.CombinedOutput()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), ended.ExitCode()
	} else if err != nil {
		t.Skip(err) // no bash
	}
	return string(out), 0
}

// A package that takes three times its budget, however slow the machine is, fails the gate by name.
func TestBudget_FarOverFails(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, tc := range map[string]struct {
		rows string
		code int
		want string
	}{
		"in budget":           {"./match gate 1.0 3\n./cell short 1.0 3\n", 0, "./match"},
		"far over":            {"./match gate 1.0 3\n./cell gate 99999.0 3\n", 1, "./cell  OVER"},
		"far over, short":     {"./cell short 9999.0 3\n", 1, "./cell  OVER"},
		"no budget, far over": {"./unheard/of gate 9999.0 3\n", 1, "./unheard/of  OVER"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "times")
			if err := os.WriteFile(file, []byte(tc.rows), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, code := timed(t, file, "report"); code != tc.code || !strings.Contains(out, tc.want) {
				t.Errorf("exit code %d, want %d and %q in\n%s", code, tc.code, tc.want, out)
			}
		})
	}
}

// A wrapped command keeps its exit code, and its row contains the package, the kind and the seconds of its
// children.
func TestBudget_NotesWhatItRuns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "times")
	if out, code := timed(t, file, "sh", "-c", "sh -c 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done'; exit 3", "-test.short=true"); code != 3 {
		t.Errorf("exit code %d, want 3\n%s", code, out)
	}
	row, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(row))
	if len(fields) != 4 || fields[0] != "./internal/archtest" || fields[1] != "short" || fields[2] == "0.0" {
		t.Errorf("the row is %q, want ./internal/archtest short SECONDS CLOCK", row)
	}
}

// Budgets name existing packages.
func TestBudget_NamesPackages(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../.ci/budgets")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" || fields[0] == "others" {
			continue
		}
		tests, _ := filepath.Glob(filepath.Join("../..", fields[0], "*_test.go"))
		if len(fields) != 3 || len(tests) == 0 {
			t.Errorf(".ci/budgets: %q: want `./PACKAGE SHORT GATE`, of a package that has tests", strings.TrimSpace(line))
		}
	}
}
