// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSystemd_Unit lets systemd check the unit, and rate how much of the machine a broken server could reach.
func TestSystemd_Unit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no systemd-analyze; try: apt-get install systemd")
		}
		t.Skip("there is no systemd-analyze")
	}
	text, err := os.ReadFile("systemd/locus.service")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable() // systemd checks that the program is there
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "locus.service")
	if err := os.WriteFile(unit, []byte(strings.Replace(string(text), "/usr/bin/locus", binary, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager",
		unit).CombinedOutput()
	level := regexp.MustCompile(`Overall exposure level for locus.service: ([0-9.]+)`).FindSubmatch(out)
	if level == nil {
		t.Fatalf("security: %v\n%s", err, out)
	}
	if exposed, err := strconv.ParseFloat(string(level[1]), 64); err != nil || exposed > 2 {
		t.Errorf("the service is exposed at %s of 10:\n%s", level[1], out)
	}
}
