// SPDX-License-Identifier: Apache-2.0

package mutant_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the repository, seen from the directory of this test.
const root = "../.."

// bugs are all that are planted: which test of which package must find each. A test is named with its
// subtest where that alone is quick.
var bugs = []struct{ name, what, pkg, test string }{}

// The tests of a package are built once, with all bugs, of which the environment chooses one.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the tests again with planted bugs")
	}
	dir := t.TempDir()
	built := map[string]string{}
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			// By the environment, so that binaries which the tests build have the bug too.
			env := append(os.Environ(), "LOCUS_MUTANT="+bug.name, "GOFLAGS="+os.Getenv("GOFLAGS")+" -tags=mutants")
			if built[bug.pkg] == "" {
				built[bug.pkg] = build(t, env, bug.pkg, dir)
			}
			cmd := exec.CommandContext(t.Context(), built[bug.pkg], "-test.v", "-test.count=1", "-test.run="+exactly(bug.test))
			cmd.Dir, cmd.Env = filepath.Join(root, bug.pkg), env
			out, err := cmd.CombinedOutput()
			switch {
			case bytes.Contains(out, []byte("--- SKIP: "+bug.test+" ")):
				t.Skipf("%s was skipped:\n%s", bug.test, out)
			case err == nil:
				t.Errorf("planted: %s; %s did not find it", bug.what, bug.test)
			case !bytes.Contains(out, []byte("--- FAIL: "+bug.test+" ")):
				t.Errorf("planted: %s; %s failed for another reason:\n%s", bug.what, bug.test, out)
			}
		})
	}
}

// build builds the tests of a package and answers with the path of the binary.
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

// exactly is the pattern of one test, or of one subtest.
func exactly(test string) string {
	return "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
}

var guard = regexp.MustCompile(`mutant\.On\("(\w+)"\)`)

// Every bug that is planted is looked for, and no other.
func TestMutants_AreAllListed(t *testing.T) {
	t.Parallel()
	var planted, listed []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || filepath.Base(filepath.Dir(path)) == "mutant" {
			return err
		}
		content, err := os.ReadFile(path)
		for _, m := range guard.FindAllSubmatch(content, -1) {
			planted = append(planted, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, bug := range bugs {
		listed = append(listed, bug.name)
	}
	for _, names := range []*[]string{&planted, &listed} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	if !slices.Equal(planted, listed) {
		t.Errorf("planted are\n%v, looked for\n%v", planted, listed)
	}
}
