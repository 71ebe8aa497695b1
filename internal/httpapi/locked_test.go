// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// TestP12_ALockedCellHoldsUpNothingElse has another program lock the file of one of two cells. A batch for both cells
// is answered by the client's deadline, record by record; requests for the other cell work; /readyz names the cell; and
// accepted records are resolved once the lock is released.
func TestP12_ALockedCellHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	svc := openService(t, dir, 0)
	defer svc.Close()
	f := &fixture{t, svc, httpapi.New(svc, nil)}
	// Keys of each cell.
	var keys [2][]string
	m := svc.Cells().Map()
	for i := 0; len(keys[0]) < 40 || len(keys[1]) < 40; i++ {
		at := m.Home(m.KeyOf("lock", fmt.Sprint(i)).Position())
		keys[at.Index] = append(keys[at.Index], fmt.Sprint(i))
	}
	batch := func(keys ...string) string {
		var records []string
		for _, key := range keys {
			records = append(records, fmt.Sprintf(`{"source":"lock","key":%q,"attributes":{"name":"Place %s","phones":"510-555-%04s"}}`, key, key, key))
		}
		return `{"records":[` + strings.Join(records, ",") + `]}`
	}
	decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", batch(keys[0][0], keys[1][0])))

	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "cells",
		cell.ID{Index: 1}.String()+".db")+"?_pragma=busy_timeout(30000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	unlock := func() {
		if _, err := db.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
	first := answer{}
	for first.ResponseRecorder == nil || first.Code == http.StatusServiceUnavailable { // timed out before it started
		began := time.Now()
		first = f.do(http.MethodPost, "/v1/records", batch(keys[0][1], keys[1][1]), "Request-Timeout", "1")
		if took := time.Since(began); took > 4*time.Second { // one statement alone would wait for 5 s
			t.Errorf("Request-Timeout: 1 was answered after %v", took)
		}
	}
	got := decode[httpapi.PutResponse](first)
	if r := got.Results[0]; r.Error != nil {
		t.Errorf("the record of the other cell: %+v", r.Error)
	}
	if r := got.Results[1]; r.Error == nil || r.Error.Code != httpapi.CodeUnavailable && r.Error.Code != httpapi.CodeCommitUnknown {
		t.Errorf("the record of the cell that is locked: %+v", r)
	}
	// The slowest of these may be the one that trips the breaker.
	began := time.Now()
	for i := 2; i < 22; i++ {
		got := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", batch(keys[0][i], keys[1][i])))
		if r := got.Results[0]; r.Error != nil {
			t.Errorf("the record of the other cell: %+v", r.Error)
		}
		if r := got.Results[1]; r.Error == nil || r.Error.Outcome != httpapi.NotApplied {
			t.Errorf("the record of the cell that is locked: %+v", r)
		}
	}
	if took := time.Since(began); took > 30*time.Second { // each would take 5 s and more
		t.Errorf("20 batches took %v", took)
	}
	ready := f.get("/readyz")
	if health := decode[httpapi.Health](ready); !health.Ready || !strings.Contains(health.Reason, "g0-1") || !health.Cells[0].Writes || health.Cells[1].Writes {
		t.Errorf("/readyz: %s", ready.Body)
	}
	unlock()
	var status *cells.Status
	for end := time.Now().Add(patience); ; {
		if status, err = svc.Cells().Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status.Redo == 0 && status.Reason == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the lock is gone, and: %q, %d records are still pending", status.Reason, status.Redo)
		}
	}
	for i := range 22 {
		if a := f.get(httpapi.RecordPath("lock", keys[0][i])); a.Code != http.StatusOK {
			t.Errorf("%s: %d %s", keys[0][i], a.Code, a.Body)
		}
	}
	if p := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", batch(keys[1][2]))).Results[0]; p.Error != nil || p.Pending {
		t.Errorf("afterwards: %+v", p)
	}
}
