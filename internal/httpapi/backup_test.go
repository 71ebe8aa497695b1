// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"path/filepath"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
)

// A backup that a server sends can be restored. One that would lack a cell is refused before anything is sent.
func TestBackup_StreamsTheFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.do("POST", "/v1/records", `{"records":[{"source":"a","key":"1","attributes":{"name":"Joes Pizza"}}]}`)
	a := f.get("/v1/backup")
	if media := a.Header().Get("Content-Type"); a.Code != 200 || media != "application/zstd" {
		t.Errorf("%d, %s", a.Code, media)
	}
	b, err := locus.RestoreBackup(t.Context(), filepath.Join(t.TempDir(), "restored"), a.Body)
	if err != nil || len(b.Files) != len(f.svc.Cells().Map().Cells()) {
		t.Errorf("restored %+v, %v", b, err)
	}
	if h := f.do("HEAD", "/v1/backup", ""); h.Code != 200 || h.Body.Len() != 0 {
		t.Errorf("HEAD: %d, %s", h.Code, h.Body)
	}
	last := f.svc.Cells().Map().Cells()
	if _, err := f.svc.Cells().Move(t.Context(), last[len(last)-1], cell.Destination{URL: "sqlite:" + filepath.ToSlash(filepath.Join(t.TempDir(), "moved.db"))}, nil); err != nil {
		t.Fatal(err)
	}
	if a := f.get("/v1/backup"); a.Code != 409 || a.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("with a cell elsewhere: %d, %s", a.Code, a.Body)
	}
}
