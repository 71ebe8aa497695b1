// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/archtest"
)

// root is the module's directory, seen from this one, where go test runs.
var root = filepath.Join("..", "..")

// packages asks the go command once for all packages of the module.
var packages = sync.OnceValues(func() ([]archtest.Package, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(stderr.String()))
	}
	var all []archtest.Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p archtest.Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

func list(t *testing.T) []archtest.Package {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return all
}

func TestImports_AreAsDrawn(t *testing.T) {
	t.Parallel()
	for _, wrong := range archtest.Check(list(t), archtest.Picture, archtest.Laws) {
		t.Error(wrong)
	}
}
