// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
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

// The proposal names what it guesses: a source that only this file has, the primary key, a second column for an
// attribute.
func TestIngest_SaysWhatIsGuessed(t *testing.T) {
	t.Parallel()
	dir, _ := shop(t)
	dated, twice := filepath.Join(dir, "people-2026.csv"), filepath.Join(dir, "twice.csv")
	for name, text := range map[string]string{
		dated: "key,name\n1,Blue Door Books\n",
		twice: "id,Billing Name,Shipping Name\n1,Blue Door Books,Blue Door\n2,Quill Optics,Quill\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{dated}, []string{"a name with a number: --source NAME keeps the next file in the same source", "nothing was imported: the source of "}},
		{[]string{twice}, []string{`column "Shipping Name" is a second one for name`}},
		{[]string{"sqlite:" + filepath.Join(dir, "shop.db"), "--table", "customers"}, []string{"the primary key"}},
	} {
		got := runAsIs(t.Context(), "", nil, append([]string{"ingest", "--data", filepath.Join(dir, "none")}, c.args...)...)
		for _, want := range c.want {
			if got.code != 2 || !strings.Contains(got.err, want) {
				t.Errorf("%v: %d\n%s\nwant %q", c.args, got.code, got.err, want)
			}
		}
	}
}
