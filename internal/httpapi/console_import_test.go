// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/tokens"
)

// file sends a part of a file as the page does; fields are alternating names and values.
func (f *fixture) file(path, part string, headers []string, fields ...string) answer {
	f.Helper()
	q := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		q.Set(fields[i], fields[i+1])
	}
	return f.do(http.MethodPost, path+"?"+q.Encode(), part,
		append([]string{"Content-Type", "", "Content-Type", "application/octet-stream"}, headers...)...)
}

// became is the answer to a part.
type became struct {
	Rows    int                       `json:"rows"`
	Became  map[string]int            `json:"became"`
	Sources map[string]map[string]int `json:"sources"`
	Refused []struct {
		Line   int64           `json:"line"`
		Reason string          `json:"reason"`
		Source string          `json:"source"`
		Cause  string          `json:"cause"`
		Row    json.RawMessage `json:"row"`
	} `json:"refused"`
}

const semicolons = "Nr;Firma;Ort;Telefon;note\n1;Joes Pizza;Springfield;415-555-2300;x\n2;Zebra Lounge;Oakland;;y\n"

func TestImport_FileIsSeenBeforeItIsStored(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"})
	of := f.entityOf("pos:1")
	page := f.file("/data/preview", semicolons, ofPage, "name", "kunden <1>.csv").page(200)
	f.says(page, "kunden &lt;1&gt;.csv", "CSV with semicolons", `name="delimiter" value=";"`, "Joes Pizza",
		`name="set.name"`)
	mapped := []string{
		"mapped", "1", "name", "kunden.csv", "format", "csv", "delimiter", ";", "encoding", "", "source", "kunden", "kind",
		"place", "key", "Nr",
		"set.name", "Firma", "set.city", "Ort", "set.phones", "Telefon",
	}
	page = f.file("/data/preview", semicolons, ofPage, mapped...).page(200)
	f.says(page, `name="set.name" value="Firma"`, `name="key" value="Nr"`, "<b>matched</b>", `href="/entities/`+of+`"`,
		"<b>created</b>", "name: Zebra Lounge")
	if strings.Contains(page, `value="1" disabled`) {
		t.Error("a file without questions cannot be imported")
	}
	if status := f.get("/v1/records/kunden/1"); status.Code != http.StatusNotFound {
		t.Fatalf("a preview has stored a record: %d", status.Code)
	}

	got := decode[became](f.file("/data/import", semicolons+"3;Quince Bakery;Oakland\n", ofPage, mapped...))
	if got.Rows != 3 || got.Became["matched"] != 1 || got.Became["created"] != 1 || len(got.Refused) != 1 ||
		got.Refused[0].Line != 4 || got.Refused[0].Reason == "" {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff(map[string]map[string]int{"kunden": {"matched": 1, "created": 1}}, got.Sources); diff != "" ||
		got.Refused[0].Source != "kunden" || got.Refused[0].Cause == "" {
		t.Errorf("%s, %+v", diff, got.Refused)
	}
	if f.entityOf("kunden:1") != of {
		t.Error("the record is not in the entity of the preview")
	}
	if !strings.Contains(string(got.Refused[0].Row), "Quince Bakery") {
		t.Errorf("the refused row is %s", got.Refused[0].Row)
	}
	if again := decode[became](f.file("/data/import", semicolons, ofPage, mapped...)); again.Became["unchanged"] != 2 {
		t.Errorf("a part that is sent twice: %+v", again)
	}
	f.says(f.get("/data").page(200), "<bdi>kunden</bdi>", `id="upload"`, "locus ingest --preview")
}

// Facts found at the beginning of a file apply to all of its parts: texts that mean no value, and the encoding.
func TestImport_PartsAreReadAsTheWhole(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const file = "id;name;city\n1;M\x81ller;NULL\n2;K\x94ln;Bonn\n3;J\x84ger;N/A\n"
	page := f.file("/data/preview", file, ofPage, "name", "dos.csv").page(200)
	f.says(page, "cp850", "NULL and N/A are no values", `name="null" value="NULL|N/A"`, `name="encoding" value="cp850"`,
		"name: Müller")
	mapped := []string{
		"mapped", "1", "name", "dos.csv", "format", "csv", "delimiter", ";", "encoding", "cp850", "null", "NULL|N/A",
		"source", "dos", "kind", "place", "key", "id",
		"set.name", "name", "set.city", "city",
	}
	if got := decode[became](f.file("/data/import", "id;name;city\n4;B\x84r;NULL\n5;NaN;Bonn\n", ofPage, mapped...)); got.Rows != 2 || len(got.Refused) > 0 {
		t.Fatalf("%+v", got)
	}
	for key, want := range map[string]string{"4": "map[name:[Bär]]", "5": "map[city:[Bonn] name:[NaN]]"} {
		if got := fmt.Sprint(decode[map[string]any](f.get("/v1/records/dos/" + key))["attributes"]); got != want {
			t.Errorf("record %s has %s, want %s", key, got, want)
		}
	}
}

// What the page counts is the last import of each source that the viewer may write.
func TestImport_IsTheLastOfItsSource(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	session := func(r tokens.Request) []string {
		return append([]string{"Cookie", f.signIn(f.token(r))}, browser...)
	}
	limited := session(tokens.Request{Name: "limited", Roles: []string{"reader", "writer"}, WriteSources: []string{"crm"}})
	counts := `{"crm":{"rows":5,"counts":{"created":3,"refused":2},"causes":{"name missing":{"rows":1,"first_line":9},"key missing":{"rows":1,"first_line":4}}},
		"shop":{"rows":1,"counts":{"refused":1}},"No Source":{"rows":1,"counts":{"refused":1}},"none":null}`
	if a := f.file("/data/imported", counts, append(limited, ofPage...), "name", "all.csv", "stopped", "the server is busy"); a.Code != http.StatusNoContent {
		t.Fatal(a.Code, a.Body)
	}
	all, err := f.svc.Sources().Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]sources.Import{"crm": {At: all["crm"].At, File: "all.csv", Rows: 5, Stopped: "the server is busy",
		Outcomes: map[string]int64{"created": 3, "refused": 2},
		Refusals: []sources.Refusal{{Cause: "key missing", Rows: 1, First: 4}, {Cause: "name missing", Rows: 1, First: 9}}}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	if a := f.file("/data/imported", "[]", append(limited, ofPage...)); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("a report without sources: %d", a.Code)
	}
	if a := f.file("/data/imported", counts, limited); a.Code != http.StatusForbidden {
		t.Errorf("a report of no page: %d", a.Code)
	}
	reader := session(tokens.Request{Name: "reader", Roles: []string{"reader"}})
	if a := f.file("/data/imported", counts, append(reader, ofPage...)); a.Code != http.StatusForbidden {
		t.Errorf("a reader reports: %d", a.Code)
	}
}

func TestImport_SaysWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for part, want := range map[string]string{
		"":                              "the file is empty",
		"\x1f\x8b\x08\x00":              "locus ingest",
		"PK\x03\x04\x00\x00":            "locus ingest",
		"\xff\xfe" + "i\x00d\x00":       "locus ingest",
		"Firma\nJoes Pizza\nJoes Pizza": "value=\"1\" disabled", // no key
	} {
		f.says(f.file("/data/preview", part, ofPage, "name", "x.csv").page(200), want)
	}
	f.says(f.file("/data/preview", semicolons, ofPage, "mapped", "1", "source", "a", "kind", "place", "key", "Nr",
		"set.name", "Name").page(200), "Name")
	f.says(f.file("/data/preview", semicolons, ofPage, "mapped", "1", "source", "a", "kind", "nothing", "key", "Nr",
		"set.name", "Firma").page(200), "nothing")
	f.file("/data/import", semicolons, ofPage, "mapped", "1", "source", "a", "kind", "place", "key", "Nr", "set.name",
		"Name").refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	f.file("/data/import", "\x1f\x8b\x08\x00", ofPage, "mapped", "1").refused(http.StatusUnprocessableEntity,
		httpapi.CodeInvalid)
	for _, dialect := range [][]string{{"delimiter", "ab"}, {"delimiter", "\n"}, {"quote", "xyz"}, {"encoding", "ebcdic"}, {"format", "xlsx"}, {"format", "sql"}} {
		f.file("/data/import", semicolons, ofPage, append(dialect, "mapped", "1", "source", "a", "key", "Nr", "set.name", "Firma")...).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	}
	f.file("/data/import", "x", ofPage, "mapped", "1", "format", "parquet").refused(http.StatusUnprocessableEntity,
		httpapi.CodeInvalid)
}

func TestImport_ObeysLimitsAndPermissions(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	mapped := []string{"mapped", "1", "format", "csv", "source", "shop", "kind", "place", "key", "id", "set.name", "name"}
	var many strings.Builder
	many.WriteString("id,name\n")
	for i := range 1001 {
		fmt.Fprintf(&many, "%d,Place %d\n", i, i)
	}
	f.file("/data/import", many.String(), ofPage, mapped...).refused(http.StatusRequestEntityTooLarge,
		httpapi.CodeTooLarge)
	large := "id,name\n1," + strings.Repeat("x", 1<<20)
	for _, path := range []string{"/data/import", "/data/preview"} {
		f.file(path, large, ofPage, mapped...).refused(http.StatusRequestEntityTooLarge, httpapi.CodeTooLarge)
		f.file(path, "id,name\n1,Joe\n", nil, mapped...).refused(http.StatusForbidden, httpapi.CodeForbidden)
		for _, from := range [][]string{{"Sec-Fetch-Site", "same-site"}, {"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "none"}} {
			if a := f.file(path, "id,name\n1,Joe\n", from, mapped...); a.Code != http.StatusForbidden {
				t.Errorf("%s from %v: %d", path, from, a.Code)
			}
		}
		f.do(http.MethodPost, path, "id=1", append([]string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}, ofPage...)...).refused(http.StatusUnsupportedMediaType, httpapi.CodeMediaType)
	}

	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	session := func(r tokens.Request) []string {
		return append([]string{"Cookie", f.signIn(f.token(r))}, browser...)
	}
	part := "id,name\n1,Joes Pizza\n"
	reader := session(tokens.Request{Name: "reader", Roles: []string{"reader"}})
	if a := f.file("/data/import", part, append(reader, ofPage...), mapped...); a.Code != http.StatusForbidden {
		t.Errorf("a reader imports: %d %s", a.Code, a.Body)
	}
	page := f.do(http.MethodGet, "/data", "", reader...).page(200)
	if strings.Contains(page, `id="upload"`) {
		t.Error("a reader is offered an import")
	}
	limited := session(tokens.Request{Name: "limited", Roles: []string{"reader", "writer"},
		WriteSources: []string{"shop"}})
	if got := decode[became](f.file("/data/import", part, append(limited, ofPage...), mapped...)); got.Became["created"] != 1 {
		t.Errorf("%+v", got)
	}
	mapped[5] = "pos"
	if got := decode[became](f.file("/data/import", part, append(limited, ofPage...), mapped...)); len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Reason, "shop") {
		t.Errorf("another source is written: %+v", got)
	}
	narrow := session(tokens.Request{Name: "narrow", Roles: []string{"reader", "writer"},
		Restriction: tokens.Restriction{Kinds: []string{"place"}}})
	if a := f.do(http.MethodGet, "/data", "", narrow...); a.Code != http.StatusForbidden {
		t.Errorf("who sees one kind sees the page: %d", a.Code)
	}
	if a := f.file("/data/preview", part, append(narrow, ofPage...), mapped...); a.Code != http.StatusForbidden {
		t.Errorf("who sees one kind tries records: %d", a.Code)
	}
}
