// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
)

const joe = `{"source":"guide","key":"1","observed_at":"2026-01-02T03:04:05.678+01:00",` +
	`"attributes":{"name":"Joe's Pizza","phones":["(415) 555-0123"],"address":"12 Main Street","city":"Springfield","latitude":37.7750,"postcode":94103}}`

func TestPutRecords_AnswersPerRecord(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	first := f.item(joe)
	if first.Outcome != resolve.Created || first.Version != 1 || first.PUID == 0 || first.Entity.IsZero() {
		t.Errorf("first %+v", first)
	}
	if again := f.item(joe); again.Outcome != resolve.Unchanged || again.PUID != first.PUID || again.Entity != first.Entity {
		t.Errorf("again %+v", again)
	}
	other := f.item(strings.NewReplacer(`"guide"`, `"map"`, "Joe's", "Joes").Replace(joe))
	if other.Outcome != resolve.Matched || other.Entity != first.Entity {
		t.Errorf("other %+v, want joined to %v", other, first.Entity)
	}
	if moved := f.item(strings.Replace(joe, "2026-01-02", "2026-02-02", 1)); moved.Outcome != resolve.Updated && moved.Outcome != resolve.Unchanged {
		t.Errorf("moved %+v", moved)
	}
	if stale := f.item(strings.NewReplacer("2026-01-02", "2025-01-02", "Joe's", "Josephine's").Replace(joe)); stale.Outcome != resolve.Stale {
		t.Errorf("stale %+v", stale)
	}
}

func TestPutRecords_KeepsValuesByteForByte(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	r := decode[httpapi.Record](f.get("/v1/records/guide/1"))
	if want := time.Date(2026, 1, 2, 2, 4, 5, 678e6, time.UTC); !r.ObservedAt.Equal(want) || r.ObservedAt.Location() != time.UTC {
		t.Errorf("observed at %v, want %v", r.ObservedAt, want)
	}
	for name, want := range map[string]string{"name": "Joe's Pizza", "phones": "(415) 555-0123", "latitude": "37.7750", "postcode": "94103"} {
		if got := r.Attributes[name]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestPutRecords_OneBadRecordHarmsNoOther(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	tests := []struct {
		record  string
		code    httpapi.Code
		pointer string
	}{
		{`17`, httpapi.CodeInvalid, ""},
		{`{}`, httpapi.CodeInvalid, "/source"},
		{`{"source":"A B","key":"1","attributes":{"name":"x"}}`, httpapi.CodeInvalid, "/source"},
		{`{"source":"a","key":"","attributes":{"name":"x"}}`, httpapi.CodeInvalid, "/key"},
		{`{"source":"a","key":7,"attributes":{"name":"x"}}`, httpapi.CodeInvalid, "/key"},
		{`{"source":null,"key":"1","attributes":{"name":"x"}}`, httpapi.CodeInvalid, "/source"},
		{`{"source":"a","key":"1"}`, httpapi.CodeInvalid, "/attributes"},
		{`{"source":"a","key":"1","attributes":[]}`, httpapi.CodeInvalid, "/attributes"},
		{`{"source":"a","key":"1","attributes":{"name":[]}}`, httpapi.CodeInvalid, "/attributes"},
		{`{"source":"a","key":"1","attributes":{"name":null}}`, httpapi.CodeInvalid, "/attributes/name"},
		{`{"source":"a","key":"1","attributes":{"name":true}}`, httpapi.CodeInvalid, "/attributes/name"},
		{`{"source":"a","key":"1","attributes":{"name":{"a":"b"}}}`, httpapi.CodeInvalid, "/attributes/name"},
		{`{"source":"a","key":"1","attributes":{"name":["x",["y"]]}}`, httpapi.CodeInvalid, "/attributes/name/1"},
		{`{"source":"a","key":"1","attributes":{"name":"x","latitude":91}}`, httpapi.CodeInvalid, "/attributes/latitude"},
		{`{"source":"a","key":"1","attributes":{"name":"x","no~such/name":1}}`, httpapi.CodeInvalid,
			"/attributes/no~0such~1name"},
		{`{"source":"a","key":"1","puid":"1","attributes":{"name":"x"}}`, httpapi.CodeUnknownField, "/puid"},
		{`{"source":"a","key":"1","Source":"b","attributes":{"name":"x"}}`, httpapi.CodeUnknownField, "/Source"},
		{`{"source":"a","key":"1","observed_at":1700000000,"attributes":{"name":"x"}}`, httpapi.CodeInvalid, "/observed_at"},
		{`{"source":"a","key":"1","observed_at":"yesterday","attributes":{"name":"x"}}`, httpapi.CodeInvalid, "/observed_at"},
		{`{"source":"a","key":"1","observed_at":"9999-12-31T23:59:59Z","attributes":{"name":"x"}}`, httpapi.CodeInFuture,
			"/observed_at"},
	}
	var body []string
	for i, test := range tests {
		body = append(body, test.record, fmt.Sprintf(`{"source":"fine","key":"%d","attributes":{"name":"Fine %d"}}`, i, i))
	}
	results := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", one(strings.Join(body, ",")))).Results
	if len(results) != 2*len(tests) {
		t.Fatalf("%d results for %d records", len(results), 2*len(tests))
	}
	for i, test := range tests {
		bad, fine := results[2*i], results[2*i+1]
		if bad.Error == nil {
			t.Errorf("%s: accepted", test.record)
			continue
		}
		pointer := fmt.Sprintf("/records/%d%s", 2*i, test.pointer)
		if bad.Error.Code != test.code || bad.Error.Pointer != pointer || bad.Error.Outcome != httpapi.NotApplied ||
			bad.Error.Detail == "" || bad.PUID != 0 {
			t.Errorf("%s: %+v, want %s at %s", test.record, bad.Error, test.code, pointer)
		}
		if fine.Error != nil || fine.Key != fmt.Sprint(i) {
			t.Errorf("the good record behind %s: %+v", test.record, fine)
		}
	}
	if got := decode[httpapi.RecordList](f.get("/v1/records?source=a")); len(got.Records) != 0 {
		t.Errorf("%d refused records were stored", len(got.Records))
	}
}

func TestPutRecords_NamesEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	r := f.item(`{"source":"","key":"","attributes":{"latitude":91}}`)
	if r.Error == nil || len(r.Error.Errors) != 3 {
		t.Fatalf("%+v, want 3 errors", r.Error)
	}
	if e := r.Error.Errors[2]; e.Code != "out_of_range" || e.Pointer != "/records/0/attributes/latitude" {
		t.Errorf("third error %+v", e)
	}
}

// Check returns the same fault as the server.
func TestRecordInput_CheckIsTheAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	name := func(name string) httpapi.Attributes { return httpapi.Attributes{"name": {name}} }
	inputs := []httpapi.RecordInput{
		{Source: "x", Key: "1", Attributes: name("Quill Dental")},
		{Source: "x", Key: "2", ObservedAt: "2026-01-02T03:04:05Z", Attributes: name("Quill Dental")},
		{Source: "x", Key: "3", ObservedAt: "yesterday", Attributes: name("Quill Dental")},
		{Source: "x", Key: "4", ObservedAt: "9999-12-31T23:59:59Z", Attributes: name("Quill Dental")},
		{Source: "x", Key: "5", ObservedAt: "1969-12-31T23:59:59Z", Attributes: name("")},
		{Source: "X!", Key: "6", Attributes: name("Quill Dental")},
		{Source: "x", Key: "7\u200b", Attributes: name("Quill Dental")},
		{Source: "x", Key: "", Attributes: httpapi.Attributes{"a/b~c": {"1"}, "latitude": {"91"}}},
		{Source: "x", Key: "9", Attributes: httpapi.Attributes{"name": {"a\x00"},
			"phones": {"1", strings.Repeat("2", 9000)}}},
		{Source: "x", Key: "10", Attributes: httpapi.Attributes{"name": slices.Repeat([]string{strings.Repeat("long ", 100)}, 140)}},
		{Source: "x", Key: "11", Attributes: httpapi.Attributes{}},
	}
	body, err := json.Marshal(httpapi.PutRequest{Records: inputs})
	if err != nil {
		t.Fatal(err)
	}
	results := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", string(body))).Results
	for i, in := range inputs {
		at := fmt.Sprintf("/records/%d", i)
		want := in.Check(match.Place(), time.Now())
		if want != nil {
			want.Pointer = at + want.Pointer
			for j := range want.Errors {
				want.Errors[j].Pointer = at + want.Errors[j].Pointer
			}
		}
		if diff := cmp.Diff(want, results[i].Error); diff != "" {
			t.Errorf("record %d: -before +answer:\n%s", i, diff)
		}
		if (want == nil) != (i < 2) {
			t.Errorf("record %d: %+v", i, want)
		}
	}
	if r := f.item(`{"source":"x","key":"12","observed_at":"","attributes":{"name":"Quill Dental"}}`); r.Error != nil {
		t.Errorf("an empty time is a time that was not sent: %+v", r.Error)
	}
}

func TestPutRecords_RefusesTheWholeDocument(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	good := `{"source":"x","key":"1","attributes":{"name":"x"}}`
	tests := []struct {
		name, body string
		headers    []string
		status     int
		code       httpapi.Code
		pointer    string
	}{
		{"empty", "", nil, 400, httpapi.CodeMalformed, ""},
		{"null", "null", nil, 422, httpapi.CodeInvalid, ""},
		{"array", "[]", nil, 422, httpapi.CodeInvalid, ""},
		{"no records", "{}", nil, 422, httpapi.CodeInvalid, "/records"},
		{"no array", `{"records":{}}`, nil, 422, httpapi.CodeInvalid, "/records"},
		{"batch of none", one(""), nil, 422, httpapi.CodeInvalid, "/records"},
		{"batch of 1001", one(strings.Repeat(good+",", 1000) + good), nil, 413, httpapi.CodeTooLarge, "/records"},
		{"unknown name", `{"records":[` + good + `],"is_admin":true}`, nil, 400, httpapi.CodeUnknownField, "/is_admin"},
		{"another case", `{"Records":[` + good + `]}`, nil, 400, httpapi.CodeUnknownField, "/Records"},
		{"two documents", one(good) + one(good), nil, 400, httpapi.CodeTrailingData, ""},
		{"name twice", `{"records":[` + good + `],"records":[]}`, nil, 400, httpapi.CodeDuplicateKey, ""},
		{"name twice in an item", one(`{"source":"x","key":"1","\u006bey":"2","attributes":{"name":"x"}}`), nil, 400,
			httpapi.CodeDuplicateKey, ""},
		{"lone surrogate", one(strings.Replace(good, `"1"`, `"\ud800"`, 1)), nil, 400, httpapi.CodeInvalidUTF8, ""},
		{"bad byte", one(strings.Replace(good, `"1"`, "\"\xff\"", 1)), nil, 400, httpapi.CodeInvalidUTF8, ""},
		{"too deep", strings.Repeat("[", 33), nil, 400, httpapi.CodeTooDeep, ""},
		{"1 MiB and a byte", one(good) + strings.Repeat(" ", 1<<20), nil, 413, httpapi.CodeTooLarge, ""},
		{"plain text", one(good), []string{"Content-Type", "", "Content-Type", "text/plain"}, 415, httpapi.CodeMediaType, ""},
		{"no type", one(good), []string{"Content-Type", ""}, 415, httpapi.CodeMediaType, ""},
		{"two types", one(good), []string{"Content-Type", "application/json"}, 415, httpapi.CodeMediaType, ""},
		{"another charset", one(good), []string{"Content-Type", "", "Content-Type", "application/json; charset=latin1"}, 415,
			httpapi.CodeMediaType, ""},
		{"encoded", one(good), []string{"Content-Encoding", "gzip"}, 415, httpapi.CodeMediaType, ""},
	}
	for _, test := range tests {
		p := f.do(http.MethodPost, "/v1/records", test.body, test.headers...).refused(test.status, test.code)
		if p.Pointer != test.pointer {
			t.Errorf("%s: pointer %q, want %q", test.name, p.Pointer, test.pointer)
		}
	}
	if got := decode[httpapi.RecordList](f.get("/v1/records")); len(got.Records) != 0 {
		t.Errorf("%d records were stored", len(got.Records))
	}
	for _, contentType := range []string{"application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"} {
		if a := f.do(http.MethodPost, "/v1/records", one(good), "Content-Type", "", "Content-Type", contentType); a.Code != http.StatusOK {
			t.Errorf("%s: %d %s", contentType, a.Code, a.Body)
		}
	}
	f.good()
}

func TestPutRecords_TakesAFullBatch(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var list []string
	for i := range records.MaxBatch {
		list = append(list, fmt.Sprintf(`{"source":"x","key":"%d","attributes":{"name":"Number %d"}}`, i, i))
	}
	results := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", one(strings.Join(list, ",")))).Results
	for i, r := range results {
		if r.Error != nil || r.Key != fmt.Sprint(i) {
			t.Fatalf("result %d: %+v", i, r)
		}
	}
}

func TestObservedAt_IsStrict(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for text, taken := range map[string]bool{
		"2026-01-01T00:00:00Z": true, "2026-01-01T00:00:00.1Z": true, "2026-01-01T00:00:00.123456789Z": true,
		"2026-01-01T00:00:00+23:59": true, "2026-01-01T00:00:00-00:00": true, "2024-02-29T23:59:59Z": true,
		"1970-01-01T00:00:00Z":   true,
		"2026-01-01T00:00:00,5Z": false, "2026-01-01T1:00:00Z": false, "2026-01-01T00:00:00+24:00": false,
		"2026-01-01T00:00:00+00:60":       false,
		"2026-01-01T00:00:00.1234567890Z": false, "2026-01-01T00:00:00.Z": false, "2026-01-01t00:00:00Z": false,
		"2026-01-01T00:00:00z": false,
		"2026-01-01 00:00:00Z": false, "2026-01-01T00:00:00": false, "2026-01-01": false, "2026-02-29T00:00:00Z": false,
		"2026-06-30T23:59:60Z": false,
		"2026-01-01T24:00:00Z": false, "2026-01-01T00:00:00+99:99": false, "300000-01-01T00:00:00Z": false,
		"0000-01-01T00:00:00Z": false,
		"1969-12-31T23:59:59Z": false, "1700000000": false, "": false, " 2026-01-01T00:00:00Z": false,
		"2026-01-01T00:00:00Z\n": false, "2026-01-01T00:00:00+0100": false,
		"２026-01-01T00:00:00Z": false,
	} {
		body := strings.ReplaceAll(fmt.Sprintf(`{"source":"x","key":"%x","observed_at":%q,"attributes":{"name":"x"}}`, text,
			text), `\x`, `\u00`)
		r := f.item(body)
		if (r.Error == nil) != taken {
			t.Errorf("%q: %+v, taken should be %v", text, r.Error, taken)
		}
	}
}

func TestRecords_KeysOfAllKinds(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	keys := []string{
		"a/b", "/", "//", "a%2Fb", "%2e%2e%2f", ".", "..", "../../etc/passwd", "a b", "a?b=c&d", "a#b", "a:b", "é",
		"e\u0301", "İstanbul",
		"$where", "x'; DROP TABLE record;--", "%_%", "<script>", `"`, `\`, "+", "😀", strings.Repeat("x", 255), "null",
		"__proto__", "{key}", ";", "*",
	}
	for i, key := range keys {
		f.put([4]string{"odd", key, fmt.Sprint("Odd ", i), ""})
	}
	for i, key := range keys {
		r := decode[httpapi.Record](f.get(httpapi.RecordPath("odd", key)))
		if r.Key != key || r.Attributes["name"][0] != fmt.Sprint("Odd ", i) {
			t.Errorf("key %q answered %+v", key, r)
		}
		find := decode[httpapi.Entity](f.get("/v1/find?address=" + query("odd:"+key)))
		if find.Members[0].Key != key {
			t.Errorf("odd:%q found %+v", key, find.Members)
		}
	}
	for _, key := range keys {
		if d := decode[httpapi.Deleted](f.do(http.MethodDelete, httpapi.RecordPath("odd", key), "")); d.Key != key || d.Entity.IsZero() {
			t.Errorf("key %q: %+v", key, d)
		}
		f.get(httpapi.RecordPath("odd", key)).refused(410, httpapi.CodeErased)
	}
}

func TestRecords_BadAddresses(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.get("/v1/records/guide/1").refused(404, httpapi.CodeNotFound)
	f.do(http.MethodDelete, "/v1/records/guide/1", "").refused(404, httpapi.CodeNotFound)
	f.get("/v1/records/guide/a%00b").refused(422, httpapi.CodeInvalid)
	f.get("/v1/records/guide/a%ffb").refused(400, httpapi.CodeInvalidUTF8)
	f.get("/v1/records/%ff/a").refused(400, httpapi.CodeInvalidUTF8)
	f.get("/v1/records/guide/%20a").refused(422, httpapi.CodeInvalid)
	f.get("/v1/records/GUIDE/a").refused(422, httpapi.CodeInvalid)
	f.get("/v1/records/guide/"+strings.Repeat("x", 256)).refused(422, httpapi.CodeInvalid)
	f.get("/v1/records/guide/").refused(404, httpapi.CodeNotFound)
	f.get("/v1/records/guide").refused(404, httpapi.CodeNotFound)
	f.get("/v1/records/guide/a/b").refused(404, httpapi.CodeNotFound)
}

func TestListRecords_Pages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	want := map[entity.PUID]string{}
	for i := range 25 {
		source := "even"
		if i%2 == 1 {
			source = "odd"
		}
		r := f.put([4]string{source, fmt.Sprint(i), fmt.Sprint("Place ", i), ""})[0]
		want[r.PUID] = source
	}
	for _, filter := range []string{"", "&source=even", "&source=odd", "&source=none"} {
		got := map[entity.PUID]bool{}
		cursor, last := "", entity.PUID(-1<<63)
		for {
			page := decode[httpapi.RecordList](f.get("/v1/records?limit=4" + filter + cursor))
			for _, r := range page.Records {
				if r.PUID <= last || got[r.PUID] {
					t.Errorf("puid %v behind %v", r.PUID, last)
				}
				last, got[r.PUID] = r.PUID, true
				if filter != "" && filter != "&source="+r.Source {
					t.Errorf("%s is not of %s", r.Source, filter)
				}
			}
			if page.Cursor == "" {
				break
			}
			cursor = "&cursor=" + page.Cursor
		}
		n := 0
		for _, source := range want {
			if filter == "" || filter == "&source="+source {
				n++
			}
		}
		if len(got) != n {
			t.Errorf("%q listed %d records, want %d", filter, len(got), n)
		}
	}
}
