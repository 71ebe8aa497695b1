// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// The program on the page for embedders is built as a separate module, as a reader would build it, and prints the
// output shown below it.
func TestEmbedding_TheProgramRuns(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	source, want := "", ""
	for _, p := range pages(t) {
		if filepath.Base(p.path) != "embedding.md" {
			continue
		}
		for _, b := range p.blocks(t) {
			switch {
			case b.info == "go":
				source = b.text
			case b.marker == "prints":
				want = b.text
			}
		}
	}
	if source == "" || want == "" {
		t.Fatal("docs/embedding.md has no program, or says nothing of what it prints")
	}
	repo, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(repo, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	// The requirements of the library are also those of the program, so nothing is downloaded.
	mod := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(read("go.mod"), "module example.test/places")
	mod += "\nrequire github.com/locus-db/locus v0.0.0\n\nreplace github.com/locus-db/locus => " + repo + "\n"
	for name, text := range map[string]string{"go.mod": mod, "go.sum": read("go.sum"), "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false -trimpath", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("go", "build", "-ldflags=-w", "-o", "places-demo", ".")
	if got := run("./places-demo"); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("the program prints\n%s\nand the page says\n%s", got, want)
	}
}
