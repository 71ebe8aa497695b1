// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/internal/archtest"
)

// root is the module's directory, relative to this one, where go test runs.
var root = filepath.Join("..", "..")

// list returns all packages of the module and of the benchmark module, from the go command.
func list(t *testing.T) (all []archtest.Package) {
	t.Helper()
	for _, module := range []string{".", "bench"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
		cmd.Dir = filepath.Join(root, module)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list in %s: %v\n%s", module, err, stderr.String())
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p archtest.Package
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("go list in %s: %v", module, err)
			}
			all = append(all, p)
		}
	}
	return all
}

func TestImports_AreAsDrawn(t *testing.T) {
	t.Parallel()
	for _, wrong := range archtest.Check(list(t), archtest.Picture, archtest.Laws) {
		t.Error(wrong)
	}
}
