// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

const byCity = "kind: place\ngroup: city\ndimension: region\nmeasures:\n  places: count\n  phones: {distinct: phones}\n"

// define puts a rollup, in YAML, and waits until it can be read.
func (f *fixture) define(name, text string) httpapi.Rollup {
	f.Helper()
	a := f.do(http.MethodPut, "/v1/rollups/"+name, text, "Content-Type", "application/yaml")
	if a.Code != http.StatusCreated {
		f.Fatalf("define: %d %s", a.Code, a.Body)
	}
	f.until("/v1/rollups/"+name+"/groups", http.StatusOK)
	return with[httpapi.Rollup](a, http.StatusCreated)
}

// until polls until the answer has a status.
func (f *fixture) until(target string, status int) answer {
	f.Helper()
	for deadline := time.Now().Add(patience); ; {
		a := f.get(target)
		if a.Code == status {
			return a
		}
		if time.Now().After(deadline) {
			f.Fatalf("%s: %d %s, want %d", target, a.Code, a.Body, status)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// with decodes an answer with a status other than 200.
func with[T any](a answer, status int) (v T) {
	a.Helper()
	if a.Code != status {
		a.Fatalf("status %d: %s", a.Code, a.Body)
	}
	a.Code = http.StatusOK
	return decode[T](a)
}

// diner puts a record of a place in a city, and returns its result.
func (f *fixture) diner(source, key, city, phone string) httpapi.PutResult {
	f.Helper()
	return f.item(fmt.Sprintf(`{"source":%q,"key":%q,"attributes":{"name":"Diner %s%s","city":%q,"phones":%q}}`, source,
		key, key, city, city, phone))
}

func TestRollups_AreDefinedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if list := decode[httpapi.RollupList](f.get("/v1/rollups")); len(list.Rollups) != 0 {
		t.Errorf("%+v", list)
	}
	if got := f.get("/v1/rollups").Body.String(); got != `{"rollups":[]}`+"\n" {
		t.Errorf("no rollups are %s", got)
	}
	made := f.define("by-city", byCity)
	if made.Name != "by-city" || made.Definition.Name != "by-city" || made.Building == 0 || len(made.Cells) != 2 ||
		made.Definition.Dimension != "region" {
		t.Errorf("%+v", made)
	}
	// The same definition written differently, as JSON, changes nothing.
	same := `{"rollup": "by-city", "kind": "place", "group": ["city"], "dimension": "region", "over": "entities",` +
		"\n\t" + `"measures": {"phones": {"distinct": "phones"}, "places": "count"}}`
	again := decode[httpapi.Rollup](f.do(http.MethodPut, "/v1/rollups/by-city", same, "Content-Type",
		"application/json; charset=utf-8"))
	if again.Generation != made.Building || again.Building != 0 {
		t.Errorf("once more: %+v", again)
	}
	// A different definition is built beside it.
	other := with[httpapi.Rollup](f.do(http.MethodPut, "/v1/rollups/by-city",
		strings.Replace(same, `"city"]`, `"city", "country"]`, 1), "Content-Type", "application/json"), http.StatusCreated)
	if other.Generation != again.Generation || other.Building <= again.Generation {
		t.Errorf("another definition: %+v", other)
	}
	one := decode[httpapi.Rollup](f.get("/v1/rollups/by-city"))
	list := decode[httpapi.RollupList](f.get("/v1/rollups"))
	if one.Name != "by-city" || len(list.Rollups) != 1 || list.Rollups[0].Name != "by-city" {
		t.Errorf("%+v, %+v", one, list)
	}
	if a := f.do(http.MethodDelete, "/v1/rollups/by-city", ""); a.Code != http.StatusNoContent || a.Body.Len() != 0 {
		t.Errorf("drop: %d %s", a.Code, a.Body)
	}
	f.do(http.MethodDelete, "/v1/rollups/by-city", "").refused(404, httpapi.CodeNotFound)
	for _, target := range []string{"/v1/rollups/by-city", "/v1/rollups/by-city/groups", "/v1/rollups/by-city/groups/x", "/v1/rollups/by-city/explain/x"} {
		if p := f.get(target).refused(404, httpapi.CodeNotFound); !strings.Contains(p.Detail, "by-city") {
			t.Errorf("%s: %s", target, p.Detail)
		}
	}
	for _, action := range []string{"rebuild", "verify"} {
		f.do(http.MethodPost, "/v1/rollups/by-city/"+action, "").refused(404, httpapi.CodeNotFound)
	}
}

// All faults are reported at once, each with its pointer.
func TestRollups_WhatIsWrong(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const yaml, jsonType = "application/yaml", "application/json"
	for _, test := range []struct {
		media, body, want string
	}{
		{yaml, "kind: place\ngroup: [city, colour]\nmeasures:\n  weight: {sum: size, scale: 12}\n",
			"/measures/weight/scale:4"},
		{yaml, "kind: place\ngroup: [city, colour]\nmeasures:\n  weight: {sum: size}\n", "/group:0 /measures/weight/sum:0"},
		{yaml, "kind: place\ngroup: city\nrows: 3\nwhere:\n  a/b: {exists: perhaps}\n", "/rows:3 /where/a~1b/exists:5"},
		{yaml, "rollup: other\nkind: place\ngroup: city\n", "/rollup:1"},
		{yaml, "kind: pets\ngroup: city\n", "/kind:0"},
		{yaml, "- city\n", "/rollup:1"},
		{yaml, "", "/rollup:0"},
		{jsonType, `{"kind": "place",` + "\n" + `"group": "city", "measures": {"a": {"sum": "x", "scale": -1}, "b": "many"}}`,
			"/measures/a/scale:2 /measures/b:2"},
		{jsonType, `[]`, "/rollup:1"},
	} {
		p := f.do(http.MethodPut, "/v1/rollups/x", test.body, "Content-Type", test.media).refused(422, httpapi.CodeInvalid)
		var got []string
		for _, e := range p.Errors {
			got = append(got, fmt.Sprintf("%s:%d", e.Pointer, e.Line))
			if e.Detail == "" || e.Code != "invalid" {
				t.Errorf("%q: %+v", test.body, e)
			}
		}
		if strings.Join(got, " ") != test.want || p.Pointer != p.Errors[0].Pointer {
			t.Errorf("%q: %s, want %s; %+v", test.body, got, test.want, p)
		}
	}
	for body, code := range map[string]httpapi.Code{
		`{"kind":"place"`: httpapi.CodeMalformed, `{"kind":"place","kind":"place"}`: httpapi.CodeDuplicateKey,
		`{} {}`:               httpapi.CodeTrailingData,
		"{\"kind\":\"\xff\"}": httpapi.CodeInvalidUTF8, strings.Repeat("[", 40): httpapi.CodeTooDeep,
		"kind: place": httpapi.CodeMalformed, "": httpapi.CodeMalformed,
	} {
		f.do(http.MethodPut, "/v1/rollups/x", body, "Content-Type", jsonType).refused(400, code)
	}
	for _, media := range []string{"", "text/yaml", "application/yaml; charset=latin1", "application/x-www-form-urlencoded"} {
		f.do(http.MethodPut, "/v1/rollups/x", byCity, "Content-Type", media).refused(415, httpapi.CodeMediaType)
	}
	f.do(http.MethodPost, "/v1/records", "records: []", "Content-Type", "", "Content-Type", yaml).refused(415,
		httpapi.CodeMediaType)
	if p := f.do(http.MethodPut, "/v1/rollups/Big", byCity, "Content-Type", yaml).refused(422, httpapi.CodeInvalid); p.Pointer != "/rollup" {
		t.Errorf("%+v", p)
	}
	if list := decode[httpapi.RollupList](f.get("/v1/rollups")); len(list.Rollups) != 0 {
		t.Errorf("what was refused is there: %+v", list)
	}
}

func TestRollups_RebuildAndVerify(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	for i := range 5 {
		f.diner("a", fmt.Sprint(i), fmt.Sprint("City", i%2), "")
	}
	made := f.define("by-city", byCity)
	under := with[httpapi.Rollup](f.do(http.MethodPost, "/v1/rollups/by-city/rebuild", ""), http.StatusAccepted)
	if under.Generation != made.Building || under.Building <= under.Generation {
		t.Errorf("rebuild: %+v", under)
	}
	for under.Building != 0 { // the verified generation must be active until it was read
		under = decode[httpapi.Rollup](f.get("/v1/rollups/by-city"))
	}
	verified := func() (cells []map[string]any, last map[string]any) {
		t.Helper()
		a := f.do(http.MethodPost, "/v1/rollups/by-city/verify", "")
		if ct := a.Header().Get("Content-Type"); a.Code != http.StatusOK || ct != "application/jsonl" {
			t.Fatalf("%d, content type %q: %s", a.Code, ct, a.Body)
		}
		for in := bufio.NewScanner(a.Body); in.Scan(); {
			last = nil
			if err := json.Unmarshal(in.Bytes(), &last); err != nil {
				t.Fatal(err)
			}
			switch last["type"] {
			case httpapi.LineVerified:
				cells = append(cells, last)
			case httpapi.LineProgress:
				if last["step"] != "counted" || last["cell"] == nil {
					t.Errorf("progress %v", last)
				}
			}
		}
		return cells, last
	}
	cells, last := verified()
	if len(cells) != 2 || cells[0]["cell"] != "g0-0" || cells[1]["cell"] != "g0-1" || cells[0]["watermark"] == nil ||
		cells[0]["differs"] != 0.0 {
		t.Errorf("%v", cells)
	}
	if last["type"] != httpapi.LineResult || last["cells"] != 2.0 || last["things"].(float64) < 5 ||
		last["rows"].(float64) < 2 || last["differs"] != 0.0 {
		t.Errorf("%v", last)
	}
	if at := decode[httpapi.RollupGroups](f.get("/v1/rollups/by-city/groups")).VerifiedAt; at.IsZero() {
		t.Error("nobody has heard that it was verified")
	}
}

// A write returns its watermark, and a rollup read from there includes it.
func TestRollups_ReadWhatWasWritten(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.define("by-city", byCity)
	for i := range 8 {
		put := f.diner("a", fmt.Sprint(i), "Springfield", "")
		if len(put.Watermark) == 0 {
			t.Fatalf("%+v", put)
		}
		one := decode[httpapi.RollupOne](f.get("/v1/rollups/by-city/groups/Springfield?min_watermark=" + put.Watermark.String()))
		if got := string(one.Total["places"]); got != fmt.Sprint(i+1) || !one.Watermark.Contains(put.Watermark) {
			t.Errorf("after %d: %s places at %v", i+1, got, one.Watermark)
		}
	}
	gone := decode[httpapi.Deleted](f.do(http.MethodDelete, httpapi.RecordPath("a", "3"), ""))
	one := decode[httpapi.RollupOne](f.get("/v1/rollups/by-city/groups/Springfield?min_watermark=" + gone.Watermark.String()))
	if len(gone.Watermark) == 0 || string(one.Total["places"]) != "7" {
		t.Errorf("deleted at %v: %s", gone.Watermark, one.Total["places"])
	}
	if one.AsOf.IsZero() || one.Generation == 0 || one.State != "following" || one.Rollup != "by-city" || one.LagMS < 0 {
		t.Errorf("%+v", one.RollupReading)
	}
	f.diner("a", "late", "Springfield", "")
	if late := decode[httpapi.RollupOne](f.get("/v1/rollups/by-city/groups/Springfield?latest=true")); string(late.Total["places"]) != "8" {
		t.Errorf("latest has %s", late.Total["places"])
	}
}

// Sums near the limits of 64 bits, from any source, do not stop a rollup: they are exact over all cells, in JSON and in
// the order of groups, and return to earlier values when records are deleted.
func TestP04_RollupsSumBeyond64Bits(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	f.define("sums", "kind: place\nover: records\ngroup: city\nmeasures:\n  s: {sum: postcode}\n  m: {avg: postcode}\n")
	want := func(target, want string) {
		t.Helper()
		a := f.get(target + "latest=true")
		var got struct {
			Groups []struct {
				Group []string
				Total json.RawMessage
			}
		}
		if err := json.Unmarshal(a.Body.Bytes(), &got); err != nil || a.Code != http.StatusOK {
			t.Fatalf("%s: %d %s: %v", target, a.Code, a.Body, err)
		}
		text := ""
		for _, g := range got.Groups {
			text += fmt.Sprint(g.Group, string(g.Total))
		}
		if text != want {
			t.Errorf("%s: %s\nwant %s", target, text, want)
		}
	}
	put := func(key, city, n string) {
		t.Helper()
		f.item(fmt.Sprintf(`{"source":"a","key":%q,"attributes":{"name":"Diner %s of %s","city":%q,"postcode":%q}}`, key, key,
			city, city, n))
	}
	for i := range 4 {
		put(fmt.Sprint(i), "Large", "9223372036854775807")
		put(fmt.Sprint("small", i), "Small", "-9223372036854775808")
	}
	put("one", "One", "1")
	const large = `[Large]{"m":9223372036854775807,"s":36893488147419103228}`
	want("/v1/rollups/sums/groups?", large+`[One]{"m":1,"s":1}[Small]{"m":-9223372036854775808,"s":-36893488147419103232}`)
	want("/v1/rollups/sums/groups?top=2&by=s&", large+`[One]{"m":1,"s":1}`)
	want("/v1/rollups/sums/groups?top=1&by=m&", large)
	for i := range 3 {
		f.do(http.MethodDelete, fmt.Sprintf("/v1/records/a/%d", i), "")
	}
	put("3", "Large", "-5")
	want("/v1/rollups/sums/groups?top=2&by=s&", `[One]{"m":1,"s":1}[Large]{"m":-5,"s":-5}`)
	if last := f.verify("sums"); last["differs"] != 0.0 {
		t.Errorf("verify: %v", last)
	}
}

// verify returns the last line of a verification.
func (f *fixture) verify(name string) (last map[string]any) {
	f.Helper()
	a := f.do(http.MethodPost, "/v1/rollups/"+name+"/verify", "")
	for in := bufio.NewScanner(a.Body); in.Scan(); {
		last = nil
		if err := json.Unmarshal(in.Bytes(), &last); err != nil {
			f.Fatal(err)
		}
	}
	return last
}

// A record or a small entity that would fall into too many groups does not stop a rollup: it is in a group that says
// so.
func TestP04_OneRecordStopsNoRollup(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.define("wide", "kind: place\ngroup: [category, phones, emails]\n")
	var categories, phones, emails []string
	for i := range 17 { // cubed: 4913
		categories = append(categories, fmt.Sprintf("category %d", i))
		phones = append(phones, fmt.Sprintf("415-555-%04d", i))
		emails = append(emails, fmt.Sprintf("m%d@zephyr.example", i))
	}
	attributes, err := json.Marshal(map[string]any{"name": "Zephyr Trampolines", "category": categories, "phones": phones,
		"emails": emails})
	if err != nil {
		t.Fatal(err)
	}
	f.item(fmt.Sprintf(`{"source":"a","key":"1","attributes":%s}`, attributes))
	f.item(`{"source":"a","key":"2","attributes":{"name":"Basalt Forge","category":["shop"],"phones":["415-555-9999"],"emails":["b@forge.example"]}}`)
	a := f.get("/v1/rollups/wide/groups?latest=true")
	if body := a.Body.String(); a.Code != http.StatusOK || !strings.Contains(body, `"group":["…","…","…"]`) || !strings.Contains(body, `"group":["shop"`) {
		t.Errorf("%d %s", a.Code, body)
	}
	if last := f.verify("wide"); last["differs"] != 0.0 {
		t.Errorf("verify: %v", last)
	}
}

// A failed rollup can be verified: it is correct at its watermark.
func TestP04_VerifyOfARollupThatStandsStill(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	f.define("wide", "kind: place\nover: records\ngroup: city\ndimension: postcode\n")
	var records []string
	for i := range 2*rollup.MaxSlots + 2 { // more than fit into one of two cells
		records = append(records, fmt.Sprintf(`{"source":"a","key":"%d","attributes":{"name":"Diner %d","city":"Oakland","postcode":"%d"}}`, i, i, i))
	}
	for some := range slices.Chunk(records, 500) {
		f.do(http.MethodPost, "/v1/records", one(strings.Join(some, ",")))
	}
	for deadline := time.Now().Add(patience); decode[httpapi.Rollup](f.get("/v1/rollups/wide")).State != rollups.Failed; {
		if time.Now().After(deadline) {
			t.Fatal("it does not stand still: ", f.get("/v1/rollups/wide").Body)
		}
		<-time.After(5 * time.Millisecond)
	}
	if last := f.verify("wide"); last["differs"] != 0.0 {
		t.Errorf("verify: %v", last)
	}
}
