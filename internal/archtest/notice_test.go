// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/longtest"
)

// noticed matches a line of NOTICE that names a module.
var noticed = regexp.MustCompile(`(?m)^    ([a-z0-9.]+\.[a-z]+/\S+)( \(.*\))?$`)

// NOTICE names exactly the modules in the binary, over all systems.
func TestNotice_NamesTheModulesOfTheBinary(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	var linked []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/locus")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", system, err)
		}
		linked = append(linked, strings.Fields(string(out))...)
	}
	slices.Sort(linked)
	text, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range noticed.FindAllSubmatch(text, -1) {
		named = append(named, string(m[1]))
	}
	slices.Sort(named)
	if diff := cmp.Diff(slices.Compact(linked), named); diff != "" {
		t.Errorf("-linked +named:\n%s", diff)
	}
}
