// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

// Each record of a batch is checked separately: an invalid one, a missing one and one of another version do not affect
// the others.
func TestDeleteRecords_AnswersPerRecord(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 4 {
		f.item(fmt.Sprintf(`{"source":"a","key":"%d/x","attributes":{"name":"Thing %d"}}`, i, i))
	}
	newer := f.item(`{"source":"a","key":"2/x","attributes":{"name":"Thing Two"}}`)
	items := []struct {
		text, pointer string
		code          httpapi.Code
	}{
		{`{"source":"a","key":"0/x"}`, "", ""},
		{`{"source":"a","key":"1/x","if_version":1}`, "", ""},
		{`{"source":"a","key":"2/x","if_version":1}`, "", httpapi.CodeConflict},
		{`{"source":"a","key":"none"}`, "", httpapi.CodeNotFound},
		{`{"source":"A","key":"3/x"}`, "/source", httpapi.CodeInvalid},
		{`{"source":"a","key":"3/x","if_version":0}`, "/if_version", httpapi.CodeInvalid},
		{`{"source":"a","key":"3/x","if_version":"1"}`, "/if_version", httpapi.CodeInvalid},
		{`{"source":"a","key":"3/x","version":1}`, "/version", httpapi.CodeUnknownField},
		{`{"source":"a","key":3}`, "/key", httpapi.CodeInvalid},
		{`"a:3/x"`, "", httpapi.CodeInvalid},
		{`{"source":"a","key":"1/x","if_version":1}`, "", httpapi.CodeNotFound}, // the second one of the batch
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.text
	}
	results := decode[httpapi.DeleteResponse](f.do(http.MethodPost, "/v1/records/delete",
		`{"records":[`+strings.Join(texts, ",")+`]}`)).Results
	if len(results) != len(items) {
		t.Fatalf("%d results for %d records", len(results), len(items))
	}
	for i, item := range items {
		switch r := results[i]; {
		case item.code == "" && (r.Error != nil || r.Entity.IsZero() || r.Source != "a"):
			t.Errorf("%s: %+v %+v", item.text, r, r.Error)
		case item.code != "" && (r.Error == nil || r.Error.Code != item.code || r.Error.Pointer != fmt.Sprintf("/records/%d%s", i, item.pointer) || !r.Entity.IsZero()):
			t.Errorf("%s: %+v, want %s at %s", item.text, r.Error, item.code, item.pointer)
		}
	}
	for key, want := range map[string]int{"0": 410, "1": 410, "2": 200, "3": 200} {
		if got := f.get("/v1/records/a/" + key + "%2Fx").Code; got != want {
			t.Errorf("key %s: status %d, want %d", key, got, want)
		}
	}
	if kept := decode[httpapi.Record](f.get("/v1/records/a/2%2Fx")); kept.Version != newer.Version {
		t.Errorf("version %d, want %d", kept.Version, newer.Version)
	}
	f.do(http.MethodPost, "/v1/records/delete", `{"records":[]}`).refused(422, httpapi.CodeInvalid)
	f.do(http.MethodPost, "/v1/records/delete", `{"records":[`+strings.Repeat(`{},`, 1000)+`{}]}`).refused(413,
		httpapi.CodeTooLarge)
}

// Records of one entity are deleted on condition of their versions, and one of them was written since: it is kept, and
// the ids of the others redirect to its entity.
func TestDeleteRecords_IDsLeadToWhatAVersionKeeps(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	put := func(key, city string) httpapi.PutResult {
		return f.item(fmt.Sprintf(`{"source":"s","key":"%s","attributes":{"name":"Blue Door Books","phones":"415 555 0123","address":"12 Main Street","city":"%s"}}`, key, city))
	}
	first, second := put("1", "Springfield"), put("2", "Springfield")
	if second.Entity != first.Entity {
		t.Fatal("the records are two entities")
	}
	if third := put("2", "Springfield, IL"); third.Version != 2 || third.Entity != first.Entity {
		t.Fatalf("%+v", third)
	}
	results := decode[httpapi.DeleteResponse](f.do(http.MethodPost, "/v1/records/delete",
		`{"records":[{"source":"s","key":"1","if_version":1},{"source":"s","key":"2","if_version":1}]}`)).Results
	if results[0].Error != nil || results[1].Error == nil {
		t.Fatalf("%+v", results)
	}
	e := decode[httpapi.Entity](f.get("/v1/entities/" + first.Entity.String()))
	if len(e.Members) != 1 || e.Members[0].Key != "2" {
		t.Errorf("%s leads to %+v", first.Entity, e)
	}
}
