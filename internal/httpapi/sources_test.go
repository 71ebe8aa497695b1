// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
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
	crm := httpapi.Source{Source: "crm", Records: 7, Created: 7, Newest: day(7), Kinds: []httpapi.SourceKind{{Kind: "person", Records: 3, Created: 3, Newest: day(7)},
		{Kind: "place", Records: 4, Created: 4, Newest: day(6)}}}
	want := httpapi.SourceList{Sources: []httpapi.Source{
		{Source: "a", Records: 1, Created: 1, Newest: day(9), Kinds: []httpapi.SourceKind{{Kind: "place", Records: 1, Created: 1, Newest: day(9)}}},
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

// An import is shown with its source, without reasons for viewers who may not see some attributes, and not at all for
// those of some kinds. It brings a source into the list only if it stored nothing.
func TestSources_ShowTheLastImport(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(`{"source":"crm","key":"1","attributes":{"name":"Joes Pizza"}}`)
	report := func(source, body string) answer {
		return f.do(http.MethodPut, "/v1/sources/"+source+"/import", body, "Content-Type", "application/json")
	}
	for source, body := range map[string]string{
		"crm":  `{"file":"crm.csv","rows":3,"outcomes":{"created":1,"refused":2},"refusals":[{"cause":"name missing","rows":2,"first":3}],"cursor":{"column":"phone","value":"415"}}`,
		"web":  `{"file":"web.csv","rows":2,"outcomes":{"refused":2}}`,
		"gone": `{"file":"gone.csv","rows":2,"outcomes":{"created":2}}`,
	} {
		if a := report(source, body); a.Code != http.StatusNoContent {
			t.Fatalf("%s: %d %s", source, a.Code, a.Body)
		}
	}
	report("crm", `{"rows":"many"}`).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	report("crm", `{"lines":3}`).refused(http.StatusBadRequest, httpapi.CodeUnknownField)
	report("CRM", `{"rows":3}`).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)

	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	for _, c := range []struct {
		name     string
		limits   tokens.Request
		sources  int
		imported bool
		causes   int
	}{
		{"all", tokens.Request{}, 2, true, 1},
		{"hidden", tokens.Request{Restriction: tokens.Restriction{Hide: []string{"phones"}}}, 2, true, 0},
		{"kinds", tokens.Request{Restriction: tokens.Restriction{Kinds: []string{"place"}}}, 1, false, 0},
	} {
		c.limits.Name, c.limits.Roles = c.name, []string{"reader"}
		list := decode[httpapi.SourceList](f.do(http.MethodGet, "/v1/sources", "", bearer(f.token(c.limits))...)).Sources
		if len(list) != c.sources || list[0].Source != "crm" || (list[0].Import != nil) != c.imported {
			t.Errorf("%s: %+v", c.name, list)
			continue
		}
		if i := list[0].Import; i != nil && (i.File != "crm.csv" || i.Outcomes["refused"] != 2 || len(i.Refusals) != c.causes || (i.Cursor != nil) != (c.causes > 0)) {
			t.Errorf("%s: %+v", c.name, i)
		}
	}
}
