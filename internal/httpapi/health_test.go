// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Version: "1.2.3"})
	if h := decode[httpapi.Liveness](f.get("/livez")); !h.Live {
		t.Errorf("livez %+v", h)
	}
	if h := decode[httpapi.Health](f.get("/readyz")); !h.Ready || h.Reason != "" {
		t.Errorf("readyz %+v", h)
	}
	if v := decode[httpapi.Version](f.get("/version")); v.Version != "1.2.3" || !strings.HasPrefix(v.Go, "go") {
		t.Errorf("version %+v", v)
	}
}

func TestReadyz_SaysNoWhenTheCellsAreClosed(t *testing.T) {
	t.Parallel()
	svc := openService(t, t.TempDir(), 0)
	server := httpapi.New(svc, nil)
	if err := svc.Close(); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t, svc, server}
	a := f.get("/readyz")
	if a.Code != http.StatusServiceUnavailable || !strings.Contains(a.Body.String(), `"ready":false,"reason":"`) ||
		a.Header().Get("Retry-After") == "" {
		t.Errorf("readyz %d %s", a.Code, a.Body)
	}
	if a := f.get("/livez"); a.Code != http.StatusOK {
		t.Errorf("livez %d", a.Code)
	}
	if a := f.get("/metrics"); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "\nlocus_ready 0\n") {
		t.Errorf("metrics %d %s", a.Code, a.Body)
	}
	f.do(http.MethodPost, "/v1/records", one(joe)).refused(503, httpapi.CodeDraining)
	for _, target := range []string{"/v1/records", "/v1/entities", "/v1/records/guide/1", "/v1/find?address=guide:1"} {
		a := f.get(target)
		if a.Code != http.StatusServiceUnavailable || strings.Contains(strings.ToLower(a.Body.String()), "sql") {
			t.Errorf("%s: %d %s", target, a.Code, a.Body)
		}
	}
}

func TestMetrics_CountsAndNamesNobody(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	f.item(joe)
	f.item(`{"source":"secret-source","key":"canary","attributes":{}}`)
	f.get("/v1/records/secret-source/canary")
	f.get("/canary")
	f.do("CANARY", "/v1/records", "")
	a := f.get("/metrics")
	if ct := a.Header().Get("Content-Type"); !strings.HasPrefix(ct, "text/plain; version=0.0.4; charset=utf-8") {
		t.Errorf("content type %q", ct)
	}
	text := a.Body.String()
	for _, want := range []string{
		`locus_records_total{outcome="created"} 1`, `locus_records_total{outcome="unchanged"} 1`,
		`locus_records_total{outcome="refused"} 1`,
		`locus_http_request_seconds_count{route="POST /v1/records",status="200"} 3`,
		`locus_http_request_seconds_count{route="GET /v1/records/{source}/{key...}",status="404"} 1`,
		`locus_http_request_seconds_count{route="none",status="404"} 1`,
		`locus_http_request_seconds_count{route="none",status="405"} 1`,
		`locus_records 1`, `locus_entities 1`, `locus_ready 1`, `locus_redo_depth{cell="g0-0"} 0`,
		`locus_redo_depth{cell="g0-1"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	for _, never := range []string{"canary", "CANARY", "secret", "guide"} {
		if strings.Contains(text, never) {
			t.Errorf("a label comes from a request: %s", regexp.MustCompile(".*"+never+".*").FindString(text))
		}
	}
}

func TestStatusAndSchema(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	status := decode[map[string]any](f.get("/v1/status"))
	if status["ready"] != true || len(status["kinds"].([]any)) == 0 || len(status["cells"].([]any)) != 2 {
		t.Errorf("%v", status)
	}
	schema := decode[httpapi.Schema](f.get("/v1/schema"))
	if schema.Kind != "place" || schema.Attributes[0].Name != "name" || schema.Attributes[0].Required ||
		schema.Attributes[0].Type != "name" {
		t.Errorf("%+v", schema)
	}
	if !schema.Attributes[1].Many {
		t.Errorf("phones %+v", schema.Attributes[1])
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	results := f.put([4]string{"guide", "1", "Joe's Pizza", "(415) 555-0123"}, [4]string{"map", "1", "Joes Pizza", "415-555-0123"},
		[4]string{"map", "2", "Blue Heron Bakery", ""})
	why := decode[map[string]any](f.get("/v1/entities/" + results[0].Entity.String() + "/why"))
	joins := why["joins"].([]any)
	if len(joins) != 1 || len(why["records"].([]any)) != 2 || why["threshold"].(float64) <= 0 {
		t.Fatalf("%v", why)
	}
	explanation := joins[0].(map[string]any)["explanation"].(map[string]any)
	sum := 0.0
	for _, line := range explanation["lines"].([]any) {
		sum += line.(map[string]any)["match_weight"].(float64)
	}
	if weight := explanation["match_weight"].(float64); sum < weight-0.05 || sum > weight+0.05 {
		t.Errorf("the lines sum to %v, not %v", sum, weight)
	}
	alone := decode[map[string]any](f.get("/v1/entities/" + results[2].Entity.String() + "/why"))
	if len(alone["joins"].([]any)) != 0 {
		t.Errorf("one record, joins %v", alone["joins"])
	}
	for pair, reason := range map[string]string{"a=guide:1&b=map:1": "same_entity", "a=guide:1&b=map:2": "no_common_blocking_key"} {
		if got := decode[map[string]any](f.get("/v1/why-not?" + pair)); got["reason"] != reason {
			t.Errorf("%s: %v, want %s", pair, got["reason"], reason)
		}
	}
	puid := results[0].PUID.String()
	for _, address := range []string{"guide:1", puid, results[0].Entity.String()} {
		if e := decode[httpapi.Entity](f.get("/v1/find?address=" + query(address))); e.ID != results[0].Entity {
			t.Errorf("find %s: %v", address, e.ID)
		}
		if route := decode[map[string]any](f.get("/v1/route?address=" + query(address))); route["found"] != true || route["address"] != address {
			t.Errorf("route %s: %v", address, route)
		}
	}
	if route := decode[map[string]any](f.get("/v1/route?address=guide:none")); route["found"] != false {
		t.Errorf("route of nothing: %v", route)
	}
	for _, address := range []string{"9223372036854775808", "007", "1e3", "+1", "-0", "x", " 7", "c8c9cef97a7fbd537a50013e4e2afbde", "UPPER:1", "a:"} {
		for _, route := range []string{"/v1/find?address=", "/v1/route?address="} {
			f.get(route+query(address)).refused(422, httpapi.CodeInvalid)
		}
	}
	for _, address := range []string{"9223372036854775807", "-9223372036854775808", "0", "nobody:1", "c8c9cef9-7a7f-bd53-7a50-013e4e2afbde"} {
		f.get("/v1/find?address="+query(address)).refused(404, httpapi.CodeNotFound)
	}
}
