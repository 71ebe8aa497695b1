// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

func zipped(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The only file of an archive is read as if it were not in an archive.
func TestZip_OneFile(t *testing.T) {
	t.Parallel()
	const text = "key,name\n1,Blue\n2,Corner\n"
	for _, archive := range []string{
		zipped(t, "shops.csv", text),
		zipped(t, "export/", "", "export/shops.csv", text, "__MACOSX/export/._shops.csv", "x", "export/.DS_Store", "x"),
		zipped(t, "shops.jsonl", `{"key":"1","name":"Blue"}`+"\n"+`{"key":"2","name":"Corner"}`),
	} {
		rows, _ := rowsAndFields(t, planOf(t, "crm.zip", archive, bulk.Options{}))
		if want := []string{"crm:1 map[name:[Blue]]", "crm:2 map[name:[Corner]]"}; !slices.Equal(rows, want) {
			t.Errorf("%q, want %q", rows, want)
		}
	}
}

// An archive of several files is refused. Names cannot point outside the archive, and a file that unpacks to too much
// is not read.
func TestZip_IsRefused(t *testing.T) {
	t.Parallel()
	for want, archive := range map[string]string{
		`of 2 files: "a.csv", "b.csv"`: zipped(t, "b.csv", "key,name\n", "a.csv", "key,name\n"),
		"leads out of it":              zipped(t, "../a.csv", "key,name\n"),
		"than 200 times its size":      zipped(t, "a.csv", "key,name\n"+strings.Repeat("\n", 4<<20)),
	} {
		p, err := bulk.Recognise("-", strings.NewReader(archive), match.Kinds(), &bulk.Options{Source: "s"})
		if err == nil {
			r, errOpen := p.Open()
			if err = errOpen; err == nil {
				for _, err = range r.All() {
				}
				_ = r.Close()
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
