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
	// A workspace compiles the library as the tests have already: as a requirement it would be compiled once more. What a
	// module may not import, packages below internal, the program may not either.
	mod := "module example.test/places\n\n" + regexp.MustCompile(`(?m)^go .*$`).FindString(read("go.mod")) + "\n"
	work := strings.ReplaceAll(mod, "module example.test/places", "use (\n\t.\n\t"+repo+"\n)")
	for name, text := range map[string]string{"go.mod": mod, "go.work": work, "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK="+filepath.Join(dir, "go.work"))
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
