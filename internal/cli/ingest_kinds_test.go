// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file is recognised by the kinds of an installation as by the built-in ones of one that does not exist yet.
func TestIngest_RecognisesTheSameInEveryInstallation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := filepath.Join(dir, "first.csv")
	if err := os.WriteFile(first, []byte("key,name\n1,Blue Door Books\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	done(t, "ingest", "--data", data, first)
	for _, name := range []string{"hubspot-contacts", "shopify-orders", "shopify-products", "stripe-customers", "datev-debitoren", "odoo-partners"} {
		file := filepath.Join("..", "bulk", "testdata", "exports", name+".csv")
		preview := func(data string) string {
			return runAsIs(t.Context(), "", nil, "ingest", "--data", data, "--preview", file).stdout
		}
		if diff := cmp.Diff(preview(filepath.Join(dir, "none")), preview(data)); diff != "" {
			t.Errorf("%s (-none +existing)\n%s", name, diff)
		}
	}
}
