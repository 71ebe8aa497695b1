// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
)

func (f *fixture) match(body string) []httpapi.MatchResult {
	f.Helper()
	return decode[httpapi.MatchResponse](f.do(http.MethodPost, "/v1/match", body)).Results
}

// A match names the entity of a stored record with its weight and values, predicts the effect of a put, and stores
// nothing.
func TestMatch_NamesEntitiesAndPredictsThePut(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	first := f.item(joe)
	tail := f.get("/v1/tail").Body.String()
	results := f.match(`{"put":true,"why":true,"probes":[
		{"attributes":{"name":"Joes Pizza","phones":"415 555 0123"}},
		{"source":"guide","key":"1","attributes":{"name":"Joe's Pizza","phones":["(415) 555-0123"],"address":"12 Main Street","city":"Springfield","latitude":37.7750,"postcode":94103}},
		{"attributes":{"name":"Quill Dental","phones":"415 555 9999"}},
		{"attributes":{"city":"Springfield"}},
		{}]}`)
	if after := f.get("/v1/tail").Body.String(); after != tail {
		t.Errorf("the logs ended at %s, now at %s", tail, after)
	}
	near := results[0].Entities
	if len(near) != 1 || near[0].ID != first.Entity || near[0].Level != entities.LevelSame ||
		near[0].MatchWeight < match.Threshold ||
		near[0].Record.Key != "1" || near[0].Records != 1 || near[0].View.Get("city") == nil {
		t.Errorf("near the first %+v", near)
	}
	if why := near[0].Why; why == nil || why.Weight != near[0].MatchWeight || len(why.Lines) == 0 || why.Lines[0].A[0] == why.Lines[0].B[0] {
		t.Errorf("why %+v", near[0].Why)
	}
	for i, want := range []string{"matched", "unchanged", "created", "created", ""} {
		switch put := results[i].Put; {
		case want == "" && (put != nil || results[i].PutError == nil || results[i].PutError.Pointer != "/probes/4/attributes"):
			t.Errorf("probe %d: put %+v, error %+v", i, put, results[i].PutError)
		case want != "" && (put == nil || put.Outcome != want || put.Entity.IsZero() != (want == "created") || !put.Entity.IsZero() && put.Entity != first.Entity):
			t.Errorf("probe %d: put %+v, want %s", i, put, want)
		}
	}
	if results[3].Reason != entities.ReasonNoBlockingKey || results[4].Reason != entities.ReasonNoBlockingKey ||
		results[0].Reason != "" {
		t.Errorf("reasons %q, %q, %q", results[3].Reason, results[4].Reason, results[0].Reason)
	}
	if plain := f.match(`{"probes":[{"attributes":{"phones":"415 555 0123"}},{}]}`); plain[0].Put != nil || plain[0].Entities[0].Why != nil || plain[1].PutError != nil {
		t.Errorf("more than was asked for: %+v", plain)
	}
}

func TestMatch_OneBadProbeHarmsNoOther(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	good := `{"attributes":{"phones":"415 555 0123"}}`
	for probe, pointer := range map[string]string{
		`17`:                         "/probes/1",
		`{"colour":"red"}`:           "/probes/1/colour",
		`{"key":"1"}`:                "/probes/1/source",
		`{"source":"A B"}`:           "/probes/1/source",
		`{"kind":"rocket"}`:          "/probes/1/kind",
		`{"attributes":{"nam":"x"}}`: "/probes/1/attributes/nam",
		`{"attributes":{"phones":"` + strings.Repeat("1", 65) + `"}}`: "/probes/1/attributes/phones",
		`{"observed_at":"2999-01-01T00:00:00Z"}`:                      "/probes/1/observed_at",
	} {
		results := f.match(fmt.Sprintf(`{"put":true,"probes":[%s,%s,%s]}`, good, probe, good))
		for i, r := range results {
			if bad := i == 1; (r.Error != nil) != bad || !bad && len(r.Entities) != 1 {
				t.Errorf("%s: result %d is %+v", probe, i, r)
			}
		}
		if e := results[1].Error; e != nil && e.Pointer != pointer {
			t.Errorf("%s: pointer %s, want %s", probe, e.Pointer, pointer)
		}
	}
}

func TestMatch_RefusesBadRequests(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for body, code := range map[string]httpapi.Code{
		`{}`:                                                 httpapi.CodeInvalid,
		`{"probes":[]}`:                                      httpapi.CodeInvalid,
		`{"probes":{}}`:                                      httpapi.CodeInvalid,
		`{"probes":[{}],"top":0}`:                            httpapi.CodeInvalid,
		`{"probes":[{}],"top":101}`:                          httpapi.CodeInvalid,
		`{"probes":[{}],"put":1}`:                            httpapi.CodeInvalid,
		`{"probes":[{}],"why":"no"}`:                         httpapi.CodeInvalid,
		`{"probes":[{}],"kind":7}`:                           httpapi.CodeInvalid,
		`{"probes":[{}],"min_match_weight":"x"}`:             httpapi.CodeInvalid,
		`{"probes":[{}],"fuzzy":1}`:                          httpapi.CodeInvalid,
		`{"probes":[{}],"typos":1}`:                          httpapi.CodeUnknownField,
		`{"probes":[` + strings.Repeat(`{},`, 1000) + `{}]}`: httpapi.CodeTooLarge,
		`{"probes":[{}],"probes":[{}]}`:                      httpapi.CodeDuplicateKey,
	} {
		var status int
		switch code {
		case httpapi.CodeInvalid:
			status = http.StatusUnprocessableEntity
		case httpapi.CodeTooLarge:
			status = http.StatusRequestEntityTooLarge
		default:
			status = http.StatusBadRequest
		}
		f.do(http.MethodPost, "/v1/match", body).refused(status, code)
	}
}

// A match waits until the data that it reads contains a watermark.
func TestMatch_WaitsForAWatermark(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	tail, err := f.svc.Changes().Tail(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	probe := `{"probes":[{"attributes":{"phones":"415 555 0123"}}]}`
	ask := func(least string) answer { return f.do(http.MethodPost, "/v1/match?min_watermark="+least, probe) }
	if r := decode[httpapi.MatchResponse](ask(tail.String())); len(r.Results[0].Entities) != 1 {
		t.Errorf("%+v", r)
	}
	for least, code := range map[string]httpapi.Code{"": httpapi.CodeInvalid, "g0-0": httpapi.CodeInvalid} {
		ask(least).refused(422, code)
	}
	ask("g9-9:1").refused(404, httpapi.CodeNotFound)
	home := f.svc.Cells().Map().Home(f.svc.Cells().Map().KeyOf("guide", "1").Position())
	tail[home]++
	written := make(chan error, 1)
	go func() {
		_, err := f.svc.Records().Put(context.Background(), []records.Input{{Ref: entity.Ref{Source: "guide", Key: "1"}, Attributes: entity.Attributes{"name": {"Joe's New Pizza"}, "phones": {"(415) 555-0123"}}}})
		written <- err
	}()
	if r := decode[httpapi.MatchResponse](ask(tail.String())); len(r.Results[0].Entities) != 1 {
		t.Errorf("after a write: %+v", r)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// A watermark that does not come is waited for for some seconds.
func TestMatch_BehindAWatermark(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	tail, err := f.svc.Changes().Tail(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for id := range tail {
		tail[id] += 1000
	}
	p := f.do(http.MethodPost, "/v1/match?min_watermark="+tail.String(),
		`{"probes":[{"attributes":{"phones":"415 555 0123"}}]}`).refused(503, httpapi.CodeUnavailable)
	if !strings.Contains(p.Detail, "behind the requested watermark") {
		t.Error(p.Detail)
	}
}
