// SPDX-License-Identifier: Apache-2.0

package apigen_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/internal/apigen"
)

var rewrite = flag.Bool("rewrite", false, "write the generated files of the clients")

// TestGenerated compares the clients with the OpenAPI document, which a test of internal/httpapi compares with the
// server.
func TestGenerated(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	document, err := os.ReadFile(filepath.Join(root, "internal", "httpapi", "testdata", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	api, err := apigen.Read(document)
	if err != nil {
		t.Fatal(err)
	}
	files, err := apigen.Go(api)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, apigen.Python(api))
	maps.Copy(files, apigen.TypeScript(api))
	for name, want := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if *rewrite {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the OpenAPI document says (%v); try: make generate", name, err)
		}
	}
}
