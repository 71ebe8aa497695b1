// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
)

// words distinguish names, for the matcher too.
var words = strings.Fields("Bakery Laundry Museum Dentist Florist Tavern Stadium Pharmacy Bookshop Airport Aquarium Winery")

func query(text string) string { return url.QueryEscape(text) }

func TestGetEntity_ShowsWhoSaysWhat(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	results := f.put([4]string{"guide", "1", "Joe's Pizza", "(415) 555-0123"},
		[4]string{"map", "a/b", "Joes Pizza", "415-555-0123"})
	if results[0].Entity != results[1].Entity {
		t.Fatalf("not joined: %+v", results)
	}
	a := f.get("/v1/entities/" + results[0].Entity.String())
	e := decode[httpapi.Entity](a)
	if e.ID != results[0].Entity || e.Records != 2 || len(e.Members) != 2 || e.Stamp == "" || !e.RedirectedFrom.IsZero() {
		t.Errorf("%+v", e)
	}
	name, phones := e.View.Get("name"), e.View.Get("phones")
	if name == nil || name.Value == nil || !strings.HasPrefix(*name.Value, "Joe") {
		t.Errorf("name %+v", name)
	}
	if phones == nil || phones.Value != nil || len(phones.Values) != 1 || len(phones.Values[0].Records) != 2 {
		t.Errorf("phones %+v: want no winner, one value, two records", phones)
	}
	if e.View.Get("emails") != nil {
		t.Error("an attribute without values is shown")
	}
	body := a.Body.String()
	if n, p := strings.Index(body, `"name"`), strings.Index(body, `"phones"`); n > p {
		t.Errorf("the view is not in the order of the schema: %s", body)
	}
	upper := decode[httpapi.Entity](f.get("/v1/entities/" + strings.ToUpper(e.ID.String())))
	if diff := cmp.Diff(e, upper); diff != "" {
		t.Errorf("the id in upper case (-lower +upper):\n%s", diff)
	}
}

func TestGetEntity_FollowsRedirects(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	first := f.put([4]string{"guide", "1", "Joe's Pizza", "(415) 555-0123"})[0]
	second := f.put([4]string{"map", "1", "Something else entirely", ""})[0]
	if first.Entity == second.Entity {
		t.Fatal("joined too early")
	}
	f.put([4]string{"map", "1", "Joe's Pizza", "(415) 555-0123"})
	survivor := decode[httpapi.Record](f.get("/v1/records/map/1")).Entity
	for _, former := range []string{first.Entity.String(), second.Entity.String()} {
		a := f.get("/v1/entities/" + former)
		e := decode[httpapi.Entity](a)
		if e.ID != survivor {
			t.Errorf("%s leads to %v, want %v", former, e.ID, survivor)
		}
		redirected := former != survivor.String()
		if redirected != (e.RedirectedFrom.String() == former) ||
			redirected != (a.Header().Get("Content-Location") == "/v1/entities/"+survivor.String()) {
			t.Errorf("%s: redirected_from %v, Content-Location %q", former, e.RedirectedFrom, a.Header().Get("Content-Location"))
		}
	}
	f.do(http.MethodDelete, "/v1/records/guide/1", "")
	f.do(http.MethodDelete, "/v1/records/map/1", "")
	for _, former := range []string{first.Entity.String(), second.Entity.String()} {
		a := f.get("/v1/entities/" + former)
		a.refused(410, httpapi.CodeErased)
		if strings.Contains(a.Body.String(), "Joe") {
			t.Errorf("an erased entity answers %s", a.Body)
		}
	}
}

func TestEntities_BadIDs(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, suffix := range []string{"", "/why"} {
		for _, id := range []string{
			"c8c9cef97a7fbd537a50013e4e2afbde", "{c8c9cef9-7a7f-bd53-7a50-013e4e2afbde}",
			"urn:uuid:c8c9cef9-7a7f-bd53-7a50-013e4e2afbde",
			"c8c9cef9-7a7f-4d53-7a50-013e4e2afbde", "c8c9cef9-7a7f-bd53-7a50-013e4e2afbdg",
			"c8c9cef9-7a7f-bd53-7a50-013e4e2afbd",
			"c8c9cef9-7a7f-bd53-7a50-013e4e2afbde%0A", "%20c8c9cef9-7a7f-bd53-7a50-013e4e2afbde", "a%00b", "a%2Fb", "%ff", "7",
			"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", strings.Repeat("a", 7000),
		} {
			if p := f.get("/v1/entities/"+id+suffix).refused(422, httpapi.CodeInvalid); p.Pointer != "/id" {
				t.Errorf("%.40s: pointer %q", id, p.Pointer)
			}
		}
		f.get("/v1/entities/c8c9cef9-7a7f-bd53-7a50-013e4e2afbde"+suffix).refused(404, httpapi.CodeNotFound)
		// No id of that time was ever minted: in a data directory the server has the newest map.
		f.get("/v1/entities/c8c9cef9-7a7f-bd53-7a50-ffffffffffff"+suffix).refused(404, httpapi.CodeNotFound)
	}
}

func TestListEntities_Searches(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 12 {
		f.put([4]string{"guide", fmt.Sprint(i), "Blue Heron " + words[i], ""})
	}
	f.put([4]string{"guide", "p", "Joe's Pizza", "(415) 555-0123"})
	for target, want := range map[string]int{
		"/v1/entities": 13, "/v1/entities?q=heron": 12, "/v1/entities?q=HER": 12, "/v1/entities?q=pizza": 1,
		"/v1/entities?q=pizza+heron":                             0,
		"/v1/entities?filter=phones:" + query("+1 415 555 0123"): 1, "/v1/entities?has=phones": 1,
		"/v1/entities?without=phones&has=name": 12,
		"/v1/entities?kind=place":              13, "/v1/entities?has=phones&has=hours": 0, "/v1/entities?order=id&q=heron": 12,
		"/v1/entities?filter=name:x:y":  0,
		"/v1/entities?q=" + query("%_"): -1, "/v1/entities?q=": 13,
		"/v1/entities?q=" + query("(a+)+$"): -1, "/v1/entities?q=" + query(`" OR 1=1 --`): -1,
		"/v1/entities?q=" + query("NEAR(a b) *"): -1,
	} {
		list := decode[httpapi.EntityList](f.get(target))
		if want >= 0 && len(list.Entities) != want {
			t.Errorf("%s found %d, want %d", target, len(list.Entities), want)
		}
	}
	seen, cursor := map[string]bool{}, ""
	for {
		page := decode[httpapi.EntityList](f.get("/v1/entities?q=heron&limit=5" + cursor))
		for _, e := range page.Entities {
			if seen[e.ID.String()] {
				t.Errorf("%v twice", e.ID)
			}
			seen[e.ID.String()] = true
		}
		if page.Cursor == "" {
			break
		}
		cursor = "&cursor=" + page.Cursor
	}
	if len(seen) != 12 {
		t.Errorf("%d entities in pages, want 12", len(seen))
	}
	f.get("/v1/entities?q="+strings.Repeat("q", 257)).refused(422, httpapi.CodeInvalid)
	for target, pointer := range map[string]string{
		"/v1/entities?filter=name": "?filter", "/v1/entities?has=": "?has", "/v1/entities?without=x": "?without",
		"/v1/entities?filter=nosuch:x": "?filter",
		"/v1/entities?kind=x":          "?kind", "/v1/entities?order=worst": "?order", "/v1/entities?has=a%0Ab": "?has",
		"/v1/entities?q=%00": "?q", "/v1/records?source=UPPER": "?source", "/v1/find?address=x": "?address",
		"/v1/find?address=c8c9cef9-7a7f-4d53-7a50-013e4e2afbde":    "?address",
		"/v1/route?address=c8c9cef9-7a7f-4d53-7a50-013e4e2afbde":   "?address",
		"/v1/why-not?a=c8c9cef9-7a7f-4d53-7a50-013e4e2afbde&b=x:1": "?a", "/v1/why-not?a=x:1": "?b",
		"/v1/why-not?a=UPPER:1&b=x:1": "?a",
	} {
		if p := f.get(target).refused(422, httpapi.CodeInvalid); p.Pointer != pointer {
			t.Errorf("%s: pointer %q, want %q", target, p.Pointer, pointer)
		}
	}
}

func TestCursor_BelongsToItsListAndOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svc := openService(t, dir, 0)
	server := httpapi.New(svc, nil)
	f := &fixture{t, svc, server}
	for i := range 6 {
		f.put([4]string{"guide", fmt.Sprint(i), "Blue Heron " + words[i], ""})
	}
	cursor := decode[httpapi.EntityList](f.get("/v1/entities?q=heron&limit=2")).Cursor
	if cursor == "" {
		t.Fatal("no cursor")
	}
	if err := svc.Close(); err != nil {
		t.Fatal(err)
	}
	f.svc = openService(t, dir, 0)
	defer f.svc.Close()
	f.server = httpapi.New(f.svc, nil)
	if next := decode[httpapi.EntityList](f.get("/v1/entities?q=heron&limit=3&cursor=" + cursor)); len(next.Entities) != 3 {
		t.Errorf("after the restart %d entities", len(next.Entities))
	}
	for _, target := range []string{"/v1/entities?q=blue&cursor=", "/v1/entities?cursor=", "/v1/entities?q=heron&filter=name:x&cursor=", "/v1/records?cursor="} {
		f.get(target+cursor).refused(422, httpapi.CodeInvalid)
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(raw) {
		raw[bit/8] ^= 1 << (bit % 8)
		f.get("/v1/entities?q=heron&cursor="+base64.RawURLEncoding.EncodeToString(raw)).refused(422, httpapi.CodeInvalid)
		raw[bit/8] ^= 1 << (bit % 8)
	}
	for _, bad := range []string{"", "!!!!", cursor + "A", cursor + "%0A", cursor[:31] + "%0A", cursor[1:], strings.Repeat("A", 513), cursor + "="} {
		f.get("/v1/entities?q=heron&cursor="+bad).refused(422, httpapi.CodeInvalid)
	}
}

func TestListRecords_GoesOnBehindADeletedRecord(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 6 {
		f.put([4]string{"guide", fmt.Sprint(i), fmt.Sprint("Place ", i), ""})
	}
	page := decode[httpapi.RecordList](f.get("/v1/records?limit=3"))
	f.do(http.MethodDelete, httpapi.RecordPath("guide", page.Records[2].Key), "")
	if rest := decode[httpapi.RecordList](f.get("/v1/records?limit=100&cursor=" + page.Cursor)); len(rest.Records) != 3 || rest.Cursor != "" {
		t.Errorf("%d records left", len(rest.Records))
	}
}

// TestP12_PagesAreBounded lists more records and entities than fit into a page.
func TestP12_PagesAreBounded(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	const n = 120
	var description []string
	for i := range 16 {
		description = append(description, strings.Repeat(words[i%len(words)], 400)+fmt.Sprint(i))
	}
	var puts []records.Input
	for i := range n {
		name := fmt.Sprintf("%s %c%c", words[i%len(words)], 'a'+i%26, 'a'+i/26)
		puts = append(puts, records.Input{
			Ref:        entity.Ref{Source: "guide", Key: fmt.Sprint(i)},
			Attributes: entity.Attributes{"name": {name}, "description": description},
		})
	}
	results, err := f.svc.Records().Put(t.Context(), puts)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		ids[r.Entity.String()] = true
	}
	for list, want := range map[string]int{"records": n, "entities": len(ids)} {
		pages, seen, cursor := 0, 0, ""
		for {
			a := f.get("/v1/" + list + "?limit=1000" + cursor)
			page := decode[map[string]any](a)
			pages++
			seen += len(page[list].([]any))
			if a.Body.Len() > 5<<20 {
				t.Errorf("%s: a page of %d bytes", list, a.Body.Len())
			}
			next, more := page["cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		if seen != want || pages < 2 {
			t.Errorf("%d of %d %s on %d pages", seen, want, list, pages)
		}
	}
}

func TestView_KeepsItsOrder(t *testing.T) {
	t.Parallel()
	value := "b"
	want := httpapi.View{
		{Name: "zebra", Value: &value, Values: []httpapi.ViewValue{{Value: "<b>"}}},
		{Name: "ant", Values: []httpapi.ViewValue{{Value: "\u2028"}}},
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got httpapi.View
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, bad := range []string{`[]`, `{"a":1}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was read as a view", bad)
		}
	}
}
