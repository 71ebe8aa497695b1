// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/archtest"
	"github.com/locus-db/locus/internal/longtest"
)

const licence = "// SPDX-License-Identifier: Apache-2.0\n"

// machineDirectories are directories specific to one machine; machine matches absolute paths into them.
var (
	machineDirectories = []string{"work", "tmp", "root", "home", "Users", "private", "mnt"}
	machine            = regexp.MustCompile(`(^|[\s"'` + "`" + `=(:])/(` + strings.Join(machineDirectories,
		"|") + `)/[A-Za-z0-9_.$-]`)
)

// machineDirectory reports whether a text contains such a directory anywhere: faster than the expression.
func machineDirectory(content []byte) bool {
	return slices.ContainsFunc(machineDirectories, func(dir string) bool { return bytes.Contains(content, []byte("/"+dir+"/")) })
}

// text calls fn for every text file of the repository whose name has one of the suffixes, with its path from the
// root. Test data and generated files are left out.
func text(t *testing.T, suffixes []string, fn func(path string, content []byte)) {
	t.Helper()
	if err := eachText(suffixes, func(path string, content []byte) error { fn(path, content); return nil }); err != nil {
		t.Fatal(err)
	}
}

// eachText is text until fn returns an error.
func eachText(suffixes []string, fn func(path string, content []byte) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "testdata", "locus-data", "bin", "dist", "node_modules":
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !ends(d.Name(), suffixes) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return fn(filepath.ToSlash(rel), content)
	})
}

func ends(name string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

func TestFiles_StartWithTheLicence(t *testing.T) {
	t.Parallel()
	n := 0
	text(t, []string{".go"}, func(path string, content []byte) {
		n++
		if !bytes.HasPrefix(content, []byte(licence)) {
			t.Errorf("%s: the first line is not %q", path, strings.TrimSpace(licence))
		}
	})
	if n < 10 {
		t.Errorf("read %d files: the walk does not see the module", n)
	}
}

func TestFiles_AreFormatted(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	var files []string
	text(t, []string{".go"}, func(path string, _ []byte) { files = append(files, filepath.Join(root, filepath.FromSlash(path))) })
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	gofmt := filepath.Join(strings.TrimSpace(string(goroot)), "bin", "gofmt")
	// The program takes a second for what would take a minute in this process under the race detector.
	out, err := exec.CommandContext(t.Context(), gofmt, append([]string{"-l"}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", gofmt, err, out)
	} else if len(out) > 0 {
		t.Errorf("not formatted; try: make fmt\n%s", out)
	}
}

func TestFiles_NameNoMachine(t *testing.T) {
	t.Parallel()
	suffixes := []string{".go", ".md", ".sql", ".html", ".css", ".js", ".json", ".yaml", ".yml", ".txtar", ".sh",
		"Makefile", "run", "go.mod"}
	text(t, suffixes, func(path string, content []byte) {
		if !utf8.Valid(content) {
			t.Errorf("%s: not UTF-8", path)
		}
		if !machineDirectory(content) {
			return
		}
		for i, line := range strings.Split(string(content), "\n") {
			if machine.MatchString(line) {
				t.Errorf("%s:%d: names a path of one machine: %s", path, i+1, strings.TrimSpace(line))
			}
		}
	})
}

func TestMachinePaths_AreSeen(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`open("` + `/work` + `/main/go.mod")`: true,
		"see " + "/tmp" + "/x":                true,
		"`" + "/home" + "/a`":                 true,
		"https://example.com/home/x":          false,
		"GET /v1" + "/work" + "/tmp":          false,
		"../shared/data":                      false,
		"/temporary/x":                        false,
	} {
		if got := machineDirectory([]byte(line)) && machine.MatchString(line); got != want {
			t.Errorf("%q: seen as a machine path: %v, want %v", line, got, want)
		}
	}
}

// A library explains its design in doc.go, with a figure, and has an example whose output is checked.
func TestLibraries_ExplainThemselves(t *testing.T) {
	t.Parallel()
	for _, library := range archtest.Libraries {
		t.Run(library, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, filepath.FromSlash(library))
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "doc.go"), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if !figure(file.Doc.Text()) {
				t.Errorf("%s/doc.go: the package comment has no figure (an indented block)", library)
			}
			tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			var files []*ast.File
			for _, name := range tests {
				file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
			for _, example := range doc.Examples(files...) {
				if example.Output != "" || example.EmptyOutput {
					return
				}
			}
			t.Errorf("%s: no Example with an Output comment", library)
		})
	}
}

func figure(packageComment string) bool {
	for _, block := range new(comment.Parser).Parse(packageComment).Content {
		if code, ok := block.(*comment.Code); ok && strings.Count(code.Text, "\n") >= 3 {
			return true
		}
	}
	return false
}
