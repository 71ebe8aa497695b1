// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/httpapi"
)

func TestSources_CountLiveRecords(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if got := decode[httpapi.SourceList](f.get("/v1/sources")); len(got.Sources) != 0 {
		t.Errorf("an empty installation: %+v", got)
	}
	for i := range 9 {
		kind, source := "place", "crm"
		if i%3 == 0 {
			kind = "person"
		}
		if i == 8 {
			source = "a"
		}
		f.item(fmt.Sprintf(`{"source":"%s","key":"%d","kind":"%s","observed_at":"2026-01-0%dT00:00:00Z","attributes":{"name":"Thing %d"}}`, source, i, kind, i+1, i))
	}
	if got := f.do(http.MethodDelete, "/v1/records/crm/7", ""); got.Code != http.StatusOK {
		t.Fatal(got.Body)
	}
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	crm := httpapi.Source{Source: "crm", Records: 7, Newest: day(7), Kinds: []httpapi.SourceKind{{Kind: "person", Records: 3, Newest: day(7)}, {Kind: "place", Records: 4, Newest: day(6)}}}
	want := httpapi.SourceList{Sources: []httpapi.Source{
		{Source: "a", Records: 1, Newest: day(9), Kinds: []httpapi.SourceKind{{Kind: "place", Records: 1, Newest: day(9)}}},
		crm,
	}}
	if diff := cmp.Diff(want, decode[httpapi.SourceList](f.get("/v1/sources"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(crm, decode[httpapi.Source](f.get("/v1/sources/crm"))); diff != "" {
		t.Error(diff)
	}
	f.get("/v1/sources/none").refused(404, httpapi.CodeNotFound)
	f.get("/v1/sources/NONE").refused(422, httpapi.CodeInvalid)
}
