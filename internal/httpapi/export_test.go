// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

func TestExport_StreamsTables(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.do("POST", "/v1/records", `{"records":[
		{"source":"a","key":"1","observed_at":"2026-01-02T03:04:05Z","attributes":{"name":["Joes Pizza","Giuseppe's"],"phones":["415-555-2300","415-555-2301"]}},
		{"source":"b","key":"2","observed_at":"2026-01-02T03:04:05Z","attributes":{"name":"Blue Door Books"}}]}`)
	lines := f.get("/v1/export/records?columns=key,name,phones&source=a")
	if got, want := lines.Body.String(), `{"key":"1","name":["Joes Pizza","Giuseppe's"],"phones":["415-555-2300","415-555-2301"]}`+"\n"; got != want {
		t.Errorf("got %swant %s", got, want)
	}
	table := f.get("/v1/export/records?columns=key,name,phones&format=csv&source=a")
	if got, want := table.Body.String(), "key,name[],phones[]\n1,Joes Pizza | Giuseppe's,415-555-2300 | 415-555-2301\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := table.Header().Get(httpapi.ColumnsHeader); got != "key,name[],phones[]" {
		t.Errorf("the columns are %s", got)
	}
	mark := table.Header().Get(httpapi.WatermarkHeader)
	if got := f.get("/v1/export/entities?since=" + mark).Body.String(); !strings.HasPrefix(mark, "g0-0:") || got != "" {
		t.Errorf("since %s: %s", mark, got)
	}
	f.do("DELETE", httpapi.RecordPath("b", "2"), "")
	if got := f.get("/v1/export/entities?columns=op,into&since=" + mark).Body.String(); got != `{"op":"delete"}`+"\n" {
		t.Errorf("after a deletion: %s", got)
	}
	if a := f.do("GET", "/v1/export/links", "", "Accept", "text/csv"); !strings.HasPrefix(a.Body.String(), "source,key,kind,entity\na,1,place,") {
		t.Errorf("links: %s", a.Body)
	}
}

func TestExport_RefusesBadQueries(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for query, pointer := range map[string]string{
		"records?format=xml": "?format", "records?kind=none": "?kind", "records?source=A": "?source",
		"records?columns=nmae": "?columns",
		"records?since=x":      "?since", "things": "/what", "decisions?kind=place": "/what",
	} {
		if p := f.get("/v1/export/"+query).refused(422, httpapi.CodeInvalid); p.Pointer != pointer {
			t.Errorf("%s: the pointer is %s, want %s", query, p.Pointer, pointer)
		}
	}
}
