// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/httpapi"
)

func (f *fixture) post(target, body string) answer {
	f.Helper()
	return f.do(http.MethodPost, target, body)
}

// possiblePair puts two records that are a possible match.
func (f *fixture) possiblePair() {
	f.Helper()
	decode[httpapi.PutResponse](f.post("/v1/records", `{"records":[
		{"source":"a","key":"oak","attributes":{"name":"Brass Heron Antiques","city":"Springfield","phones":"212-555-0101","address":"12 Oak Ave"}},
		{"source":"b","key":"mill","attributes":{"name":"Brass Heron Antiques","city":"Springfield","phones":"646-555-7878","address":"99 Mill Lane"}}]}`))
}

func TestReview_AnAnswerTakesThePairOffTheQueue(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.possiblePair()
	queue := decode[httpapi.ReviewList](f.get("/v1/review"))
	if len(queue.Pairs) != 1 || queue.Cursor != "" {
		t.Fatalf("%+v", queue)
	}
	p := queue.Pairs[0]
	answer := decode[httpapi.DecideResponse](f.post("/v1/decisions",
		fmt.Sprintf(`{"decisions":[{"verdict":"same","a":%q,"b":%q,"author":"ann","reason":"<b>one</b> & \"same\""}]}`, p.A, p.B)))
	r := answer.Results[0]
	if r.Error != nil || r.Decision.EntityA != r.Decision.EntityB || r.Decision.Reason != `<b>one</b> & "same"` {
		t.Fatalf("%+v", r)
	}
	if queue := decode[httpapi.ReviewList](f.get("/v1/review?limit=100")); len(queue.Pairs) != 0 {
		t.Errorf("%+v", queue)
	}
	list := decode[httpapi.DecisionList](f.get("/v1/decisions"))
	if len(list.Decisions) != 1 || list.Decisions[0].Author != "ann" {
		t.Errorf("%+v", list)
	}
	how := decode[httpapi.How](f.get("/v1/entities/" + r.Decision.EntityA.String() + "/how"))
	if len(how.Steps) != 1 || how.Steps[0].Decided == nil || how.Component != 2 || len(how.Events) < 3 {
		t.Errorf("%+v", how)
	}
	if h := decode[httpapi.History](f.get("/v1/entities/" + r.Decision.EntityA.String() + "/history")); len(h.Events) < 3 || h.Entity.Records != 2 {
		t.Errorf("%+v", h)
	}
	if l := decode[httpapi.RelationList](f.get("/v1/entities/" + r.Decision.EntityA.String() + "/relations")); len(l.Relations) != 0 {
		t.Errorf("%+v", l)
	}
	un := decode[httpapi.DecideResponse](f.post("/v1/entities/"+r.Decision.EntityA.String()+"/unmerge",
		`{"records":["b:mill"],"author":"ann"}`))
	if len(un.Results) != 1 || un.Results[0].Error != nil ||
		un.Results[0].Decision.EntityA == un.Results[0].Decision.EntityB {
		t.Errorf("%+v", un)
	}
	w := decode[explain.Comparison](f.get("/v1/why-not?a=a:oak&b=b:mill"))
	if w.Reason != "decided" || w.Decided == nil || len(w.Reasons) < 2 {
		t.Errorf("%+v", w)
	}
}

func TestWhatIf(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.possiblePair()
	for body, want := range map[string][2]int{
		`{"of":"a:oak","decide":[{"verdict":"same","a":"a:oak","b":"b:mill"}]}`: {2, 1},
		`{"of":"a:oak","threshold":0.5}`:                                        {2, 1},
		`{"of":"a:oak","weights":{"phone: different":9}}`:                       {2, 1},
		`{"of":"a:oak","delete":["a:oak"]}`:                                     {1, 0},
		`{"of":"a:oak","threshold":50}`:                                         {0, 0},
	} {
		s := decode[httpapi.Scenario](f.post("/v1/what-if", body))
		if len(s.Before) != want[0] || len(s.After) != want[1] {
			t.Errorf("%s: %d before, %d after, want %v", body, len(s.Before), len(s.After), want)
		}
	}
	if list := decode[httpapi.EntityList](f.get("/v1/entities")); len(list.Entities) != 2 {
		t.Errorf("what was hypothetical is there: %d entities", len(list.Entities))
	}
}

func TestDecisions_BadInput(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.possiblePair()
	id := decode[httpapi.Record](f.get("/v1/records/a/oak")).Entity.String()
	long := strings.Repeat("x", 1025)
	for _, c := range []struct {
		path, body string
		status     int
		code       httpapi.Code
		pointer    string
	}{
		{"/v1/decisions", `{`, 400, httpapi.CodeMalformed, ""},
		{"/v1/decisions", `{}`, 422, httpapi.CodeInvalid, "/decisions"},
		{"/v1/decisions", `{"decisions":[]}`, 422, httpapi.CodeInvalid, "/decisions"},
		{"/v1/decisions", `{"decisions":[` + strings.Repeat(`{},`, 1000) + `{}]}`, 413, httpapi.CodeTooLarge, "/decisions"},
		{"/v1/decisions", `{"verdict":"same"}`, 400, httpapi.CodeUnknownField, "/verdict"},
		{"/v1/decisions", `{"decisions":[],"decisions":[]}`, 400, httpapi.CodeDuplicateKey, ""},
		{"/v1/what-if", `{}`, 422, httpapi.CodeInvalid, "/of"},
		{"/v1/what-if", `{"of":7}`, 422, httpapi.CodeInvalid, "/of"},
		{"/v1/what-if", `{"of":"a:oak"}`, 422, httpapi.CodeInvalid, ""},
		{"/v1/what-if", `{"of":"a:none","threshold":1}`, 404, httpapi.CodeNotFound, ""},
		{"/v1/what-if", `{"of":"a:oak","threshold":0}`, 422, httpapi.CodeInvalid, "/threshold"},
		{"/v1/what-if", `{"of":"a:oak","threshold":1e300}`, 422, httpapi.CodeInvalid, "/threshold"},
		{"/v1/what-if", `{"of":"a:oak","threshold":"5"}`, 422, httpapi.CodeInvalid, "/threshold"},
		{"/v1/what-if", `{"of":"a:oak","weights":[]}`, 422, httpapi.CodeInvalid, "/weights"},
		{"/v1/what-if", `{"of":"a:oak","weights":{"phone: equal":-101}}`, 422, httpapi.CodeInvalid, "/weights/phone: equal"},
		{"/v1/what-if", `{"of":"a:oak","weights":{"phone: blue":1}}`, 422, httpapi.CodeInvalid, "/weights"},
		{"/v1/what-if", `{"of":"a:oak","delete":"a:oak"}`, 422, httpapi.CodeInvalid, "/delete"},
		{"/v1/what-if", `{"of":"a:oak","delete":[1]}`, 422, httpapi.CodeInvalid, "/delete/0"},
		{"/v1/what-if", `{"of":"a:oak","delete":[` + strings.Repeat(`"a:oak",`, 100) + `"a:oak"]}`, 413,
			httpapi.CodeTooLarge, "/delete"},
		{"/v1/what-if", `{"of":"a:oak","decide":[{"verdict":"same","a":"a:oak","b":"a:oak"}]}`, 422, httpapi.CodeInvalid,
			"/decide/0/b"},
		{"/v1/what-if", `{"of":"a:oak","decide":[{"verdict":"same","x":1}]}`, 400, httpapi.CodeUnknownField, "/decide/0/x"},
		{"/v1/entities/" + id + "/unmerge", `{}`, 422, httpapi.CodeInvalid, "/records"},
		{"/v1/entities/" + id + "/unmerge", `{"records":["b:mill"]}`, 422, httpapi.CodeInvalid, "/records/0"},
		{"/v1/entities/" + id + "/unmerge", `{"records":["a:oak"]}`, 422, httpapi.CodeInvalid, "/records"},
		{"/v1/entities/" + id + "/unmerge", `{"records":["a:oak"],"reason":7}`, 422, httpapi.CodeInvalid, "/reason"},
		{"/v1/entities/nonsense/unmerge", `{"records":["a:oak"]}`, 422, httpapi.CodeInvalid, "/id"},
	} {
		p := f.post(c.path, c.body).refused(c.status, c.code)
		if p.Pointer != c.pointer {
			t.Errorf("%s %.100s: pointer %q, want %q", c.path, c.body, p.Pointer, c.pointer)
		}
	}
	// A fault of one decision does not affect the others.
	answer := decode[httpapi.DecideResponse](f.post("/v1/decisions", `{"decisions":[
		{"verdict":"anchor","a":"a:oak","reason":"`+long+`"}, {"verdict":"anchor","a":"a:oak","reason":"\u0007"}, {"verdict":"anchor","a":7},
		{"verdict":"anchor","a":"a:oak","color":"red"}, {"verdict":"anchor","a":"a:none"}, {"verdict":"anchor","a":"a:oak","withdraw":"yes"},
		7, {"verdict":"anchor","a":"a:oak"}]}`))
	for i, pointer := range []string{"/reason", "/reason", "/a", "/color", "", "/withdraw", ""} {
		r := answer.Results[i]
		if r.Error == nil || r.Error.Pointer != fmt.Sprintf("/decisions/%d%s", i, pointer) || r.Decision != nil {
			t.Errorf("decision %d: %+v", i, r)
		}
	}
	if r := answer.Results[7]; r.Error != nil || r.Decision == nil {
		t.Errorf("%+v", r)
	}
	for target, pointer := range map[string]string{
		"/v1/review?limit=101": "?limit", "/v1/review?cursor=x": "?cursor", "/v1/review?of=x": "?of",
		"/v1/decisions?withdrawn=yes": "?withdrawn", "/v1/decisions?limit=0": "?limit", "/v1/decisions?of=x": "?of",
	} {
		code := httpapi.CodeInvalid
		a := f.get(target)
		if a.Code != http.StatusUnprocessableEntity && a.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", target, a.Code)
			continue
		}
		if a.Code == http.StatusBadRequest {
			code = httpapi.CodeUnknownField
		}
		if p := a.refused(a.Code, code); p.Pointer != pointer {
			t.Errorf("%s: pointer %q, want %q", target, p.Pointer, pointer)
		}
	}
}

// A list continues where the previous page ended, and its cursor is valid for no other list.
func TestDecisions_Pages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var records, decisions []string
	for i, word := range words {
		records = append(records, fmt.Sprintf(`{"source":"s","key":"%d","attributes":{"name":%q}}`, i, word))
		decisions = append(decisions, fmt.Sprintf(`{"verdict":"anchor","a":"s:%d"}`, i))
	}
	decode[httpapi.PutResponse](f.post("/v1/records", `{"records":[`+strings.Join(records, ",")+`]}`))
	decode[httpapi.DecideResponse](f.post("/v1/decisions", `{"decisions":[`+strings.Join(decisions, ",")+`]}`))
	seen := map[string]bool{}
	cursor := ""
	for {
		target := "/v1/decisions?limit=5"
		if cursor != "" {
			target += "&cursor=" + cursor
			f.get("/v1/decisions?limit=5&withdrawn=true&cursor="+cursor).refused(http.StatusUnprocessableEntity,
				httpapi.CodeInvalid)
		}
		list := decode[httpapi.DecisionList](f.get(target))
		for _, d := range list.Decisions {
			seen[d.RefA.String()] = true
		}
		if cursor = list.Cursor; cursor == "" {
			break
		}
	}
	if len(seen) != len(words) {
		t.Errorf("%d decisions are listed, want %d", len(seen), len(words))
	}
}
