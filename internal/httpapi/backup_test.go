// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
)

// The newest note of a backup counts, whether a server or another tool has made it, and the metrics have its age.
func TestBackup_IsNoted(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if got := decode[httpapi.BackupMark](f.get("/v1/backup/mark")); !reflect.DeepEqual(got, httpapi.BackupMark{}) {
		t.Errorf("before the first: %+v", got)
	}
	mark := func(body string) httpapi.BackupMark {
		return decode[httpapi.BackupMark](f.do("POST", "/v1/backup/mark", body))
	}
	if got := mark(`{"name":"pgbackrest","at":"2026-03-01T03:00:00Z"}`); !reflect.DeepEqual(got, httpapi.BackupMark{Name: "pgbackrest", At: "2026-03-01T03:00:00Z"}) {
		t.Errorf("noted %+v", got)
	}
	if got := mark(`{"name":"late","at":"2025-03-01T03:00:00Z"}`); got.Name != "pgbackrest" {
		t.Errorf("an older one replaces it: %+v", got)
	}
	if got := f.get("/metrics").Body.String(); !strings.Contains(got, "\nlocus_backup_age_seconds ") {
		t.Error("the metrics lack the age")
	}
	if a := f.get("/v1/backup"); a.Code != 200 {
		t.Fatalf("%d", a.Code)
	}
	got := decode[httpapi.BackupMark](f.get("/v1/backup/mark"))
	if at, err := time.Parse(time.RFC3339Nano, got.At); err != nil || got.Name != "" || time.Since(at) > time.Hour {
		t.Errorf("after a backup: %+v", got)
	}
	for _, body := range []string{`{"at":"2999-01-01T00:00:00Z"}`, `{"at":"yesterday"}`, `{"at":7}`, `{"nme":"x"}`, `{"name":"` + strings.Repeat("x", 101) + `"}`} {
		if a := f.do("POST", "/v1/backup/mark", body); a.Code != 422 && a.Code != 400 {
			t.Errorf("%.30s: %d %s", body, a.Code, a.Body)
		}
	}
}

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
