// SPDX-License-Identifier: Apache-2.0

package mutant_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

const root = "../.."

// A patch is a planted bug in bugs/*.patch.
type patch struct {
	name, path string
	bug        string // what the bug does wrong
	pkg, test  string // the test that must find it: a directory, and a pattern with its subtests after slashes
	files      []string
}

// Every patch states what it breaks and which test finds it, applies to the current code, and results in valid Go. With
// LOCUS_LONG=1 its test must pass without it and fail with it.
func TestPatches(t *testing.T) {
	longtest.Slow(t)
	paths, err := filepath.Glob("bugs/*.patch")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no patches in bugs: %v", err)
	}
	dir, sound := t.TempDir(), map[string]string{} // the test binary of each package without a bug
	passed := map[string]bool{}                    // tests that pass without a bug
	for _, file := range paths {
		name := strings.TrimSuffix(filepath.Base(file), ".patch")
		t.Run(name, func(t *testing.T) {
			p, err := readPatch(name, file)
			if err != nil {
				t.Fatal(err)
			}
			overlay, err := p.apply(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("LOCUS_LONG") == "" {
				return
			}
			if sound[p.pkg] == "" {
				sound[p.pkg] = build(t, os.Environ(), p.pkg, dir)
			}
			if key := p.pkg + " " + p.test; !passed[key] {
				out := p.run(t, sound[p.pkg], os.Environ())
				if said(out, "SKIP", p.test) && os.Getenv("CI") == "" {
					t.Skipf("%s was skipped:\n%s", p.test, out)
				}
				if passed[key] = said(out, "PASS", p.test); !passed[key] {
					t.Fatalf("%s does not pass without the bug:\n%s", p.test, out)
				}
			}
			env := withOverlay(overlay)
			switch out := p.run(t, build(t, env, p.pkg, t.TempDir()), env); {
			case said(out, "PASS", p.test):
				t.Errorf("planted: %s; %s did not find it", p.bug, p.test)
			case !said(out, "FAIL", p.test):
				t.Errorf("planted: %s; %s failed for another reason:\n%s", p.bug, p.test, out)
			default:
				t.Logf("planted: %s; %s says:\n%s", p.bug, p.test, out)
			}
		})
	}
}

var (
	header   = regexp.MustCompile(`\Abug: (\S.*)\nfind: \./(\S*) (Test\S+)\n\n`)
	changed  = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)`)
	declared = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// readPatch reads the header of a patch and looks for the test that it names.
func readPatch(name, file string) (patch, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return patch{}, err
	}
	m := header.FindSubmatch(content)
	if m == nil {
		return patch{}, errors.New("a patch begins with the lines `bug: WORDS`, `find: ./PACKAGE TEST` and an empty one")
	}
	p := patch{name: name, bug: string(m[1]), pkg: path.Clean(string(m[2])), test: string(m[3])}
	if p.path, err = filepath.Abs(file); err != nil {
		return patch{}, err
	}
	for _, m := range changed.FindAllSubmatch(content, -1) {
		p.files = append(p.files, string(m[1]))
	}
	if len(p.files) == 0 {
		return patch{}, errors.New("the patch changes no file: a line `+++ b/PATH` is missing")
	}
	top, _, _ := strings.Cut(p.test, "/")
	pattern, err := regexp.Compile("^(" + top + ")$")
	if err != nil {
		return patch{}, err
	}
	tests, err := filepath.Glob(filepath.Join(root, p.pkg, "*_test.go"))
	for _, test := range tests {
		source, err := os.ReadFile(test)
		if err != nil {
			return patch{}, err
		}
		for _, m := range declared.FindAllSubmatch(source, -1) {
			if pattern.Match(m[1]) {
				return p, nil
			}
		}
	}
	return patch{}, errors.Join(err, fmt.Errorf("package ./%s has no test %s", p.pkg, top))
}

// apply applies the patch to copies in dir and returns the path of an overlay that substitutes them. Lines may have
// moved; the context of a change may not differ.
func (p patch) apply(dir string) (overlay string, err error) {
	replace := map[string]string{}
	for _, file := range p.files {
		original, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(dir, file)
		content, err := os.ReadFile(original)
		if errors.Is(err, os.ErrNotExist) {
			continue // git complains unless the patch creates the file
		}
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(replace[original]), 0o755), os.WriteFile(replace[original], content, 0o644)); err != nil {
			return "", err
		}
	}
	git := exec.Command("git", "apply", p.path)
	git.Dir = dir
	// so that git ignores a repository around dir
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := git.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the patch does not apply any more; plant the bug again and write the patch with git diff: %w\n%s", err, out)
	}
	for _, file := range slices.Sorted(maps.Values(replace)) {
		if filepath.Ext(file) != ".go" {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), file, nil, 0); err != nil {
			return "", fmt.Errorf("with the bug the file is no Go: %w", err)
		}
	}
	return writeOverlay(dir, replace)
}

// writeOverlay writes the input of go build -overlay: which file replaces which.
func writeOverlay(dir string, replace map[string]string) (string, error) {
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, content, 0o644)
}

// withOverlay returns an environment in which the go command uses the overlay, even when a test runs it to build a
// program.
func withOverlay(overlay string) []string {
	return append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
}

// run runs the patch's test and returns its output, which says more than its exit code.
func (p patch) run(t *testing.T, binary string, env []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.count=1", "-test.timeout=10m",
		"-test.run="+exactly(p.test))
	cmd.Dir, cmd.Env = filepath.Join(root, p.pkg), append(env, "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// said reports whether the output contains the outcome of the test.
func said(out, outcome, test string) bool {
	return regexp.MustCompile(`(?m)^\s*--- ` + outcome + `: (` + test + `) `).MatchString(out)
}

// build builds the tests of a package and returns the path of the binary.
func build(t *testing.T, env []string, pkg, dir string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(dir, strings.ReplaceAll(pkg, "/", "-")+".test"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", path, "./"+pkg)
	cmd.Dir, cmd.Env = root, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the tests of %s: %v\n%s", pkg, err, out)
	}
	return path
}

// exactly returns the pattern of one test, or of one subtest.
func exactly(test string) string {
	return "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
}
