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

// root is the module's directory, seen from this one, where go test runs.
var root = filepath.Join("..", "..")

// list asks the go command for all packages of the module.
func list(t *testing.T) []archtest.Package {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []archtest.Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p archtest.Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}

func TestImports_AreAsDrawn(t *testing.T) {
	t.Parallel()
	for _, wrong := range archtest.Check(list(t), archtest.Picture, archtest.Laws) {
		t.Error(wrong)
	}
}
