// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/quality"
)

// TestNumbersAgree compares each number wherever it is shown: on the pages, in the API and at the command line of one
// server.
func TestNumbersAgree(t *testing.T) {
	t.Parallel()
	s := serve(t, filepath.Join(t.TempDir(), "data"), "127.0.0.1:0")
	var batch []httpapi.RecordInput
	for r := range demo.New(3, 200).All() {
		batch = append(batch, httpapi.RecordInput{Source: r.Source, Key: r.Key, Attributes: r.Attributes})
	}
	for i, phone := range []string{"+14155552300", "+14155559999"} { // a pair that is left to a person
		batch = append(batch, httpapi.RecordInput{Source: []string{"pos", "web"}[i], Key: "doubt",
			Attributes: httpapi.Attributes{"name": {"Zebra Lounge"}, "city": {"Springfield"}, "phones": {phone}}})
	}
	batch = append(batch, httpapi.RecordInput{Source: "pos", Key: "", Attributes: httpapi.Attributes{"name": {"No key"}}},
		httpapi.RecordInput{Source: "pos", Key: "1", Attributes: httpapi.Attributes{"beak": {"none"}}})
	if _, err := post(s.url, batch); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"metric", "hit", "--url", s.url, "page /about", "1200"}, {"metric", "hit", "--url", s.url, "page /about", "34"}} {
		if out, err := run(t, args...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	eventually(t, time.Minute, "every number is the same everywhere", func() (bool, string) {
		shown, err := numbers(t, s.url)
		if err != nil {
			return false, err.Error()
		}
		for _, what := range slices.Sorted(maps.Keys(shown)) {
			of := shown[what]
			for where, n := range of {
				if n != of["api"] || n == "" || n == "0" {
					return false, fmt.Sprintf("%s: %s has %q, all are %v", what, where, n, of)
				}
			}
		}
		return true, ""
	})
}

// numbers returns each number by what it counts and where it is shown.
func numbers(t *testing.T, base string) (map[string]map[string]string, error) {
	t.Helper()
	var failed error
	page := func(path, pattern string) string {
		body, err := textOf(base + path)
		failed = errors.Join(failed, err)
		found := regexp.MustCompile(pattern).FindStringSubmatch(body)
		if found == nil {
			return ""
		}
		return strings.ReplaceAll(found[1], ",", "")
	}
	api := func(path string, q url.Values, out any) { failed = errors.Join(failed, get(base, path, q, out)) }
	cli := func(args ...string) []map[string]any {
		out, err := command(t.Context(), t, "", append(args, "--url", base, "--json")...).Output()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", args, err))
		}
		var lines []map[string]any
		for line := range strings.Lines(string(out)) {
			var of map[string]any
			if json.Unmarshal([]byte(line), &of) == nil {
				lines = append(lines, of)
			}
		}
		return lines
	}
	count := func(lines []map[string]any, has string) string {
		n := 0
		for _, l := range lines {
			if _, ok := l[has]; ok {
				n++
			}
		}
		return fmt.Sprint(n)
	}
	text := func(v any) string { return fmt.Sprint(v) }

	var status cells.Status
	api("/v1/status", nil, &status)
	var profile quality.Profile
	api("/v1/quality/profile", nil, &profile)
	var sources httpapi.SourceList
	api("/v1/sources", nil, &sources)
	var review httpapi.ReviewList
	api("/v1/review", url.Values{"limit": {"100"}}, &review)
	ofSources, ofSizes := 0, 0
	for _, source := range sources.Sources {
		ofSources += int(source.Records)
	}
	for _, k := range profile.Kinds {
		for _, size := range k.Sizes {
			ofSizes += size.Entities
		}
	}
	today := func(metric string) (fromAPI, fromCLI string) {
		var series httpapi.Series
		now := time.Now().UTC()
		api("/v1/series", url.Values{"metric": {metric}, "step": {"hour"}, "from": {now.Format(time.DateOnly)},
			"to": {now.AddDate(0, 0, 1).Format(time.DateOnly)}}, &series)
		if len(series.Lines) == 1 && series.Lines[0].Total != nil {
			fromAPI = fmt.Sprint(*series.Lines[0].Total)
		}
		for _, l := range cli("metric", "series", metric) {
			lines, _ := l["lines"].([]any)
			for _, line := range lines {
				of, _ := line.(map[string]any)
				fromCLI = text(of["total"])
			}
		}
		return fromAPI, fromCLI
	}
	statusLine := map[string]any{}
	for _, l := range cli("status") {
		if of, ok := l["counts"].(map[string]any); ok {
			statusLine = of
		}
	}
	all := map[string]map[string]string{
		"records": {
			"api": text(status.Counts.Records), "home": page("/", `id="records">([\d,]+)<`),
			"operations": page("/operations", `data-text="records">([\d,]+)<`),
			"quality":    page("/quality", `id="sample">[^<]*?([\d,]+) record`),
			"profile":    text(profile.Records), "sources": text(ofSources), "status": text(statusLine["records"]),
			"list": count(cli("record", "list", "--all"), "puid"),
		},
		"entities": {
			"api": text(status.Counts.Entities), "home": page("/", `id="entities">([\d,]+)<`),
			"operations": page("/operations", `data-text="entities">([\d,]+)<`),
			"sizes":      text(ofSizes), "status": text(statusLine["entities"]),
			"list": count(cli("entity", "list", "--all"), "view"),
		},
		"pairs": {
			"api": text(len(review.Pairs)), "home": page("/", `id="pairs">([\d,]+)<`),
			"review":     page("/review", `id="waiting">([\d,]+) pair`),
			"operations": page("/operations", `data-text="review">([\d,]+) pair`),
			"list":       count(cli("review", "list", "--all"), "explanation"),
		},
	}
	for what, metric := range map[string]string{"refused": "locus.refused", "matched": "locus.matched", "created": "locus.created", "hits": "page /about"} {
		fromAPI, fromCLI := today(metric)
		at := url.QueryEscape(metric)
		all[what] = map[string]string{
			"api": fromAPI, "series": fromCLI, "metric": page("/counters/metric?name="+at, `id="day-total"[^>]*>([\d,]+) hits`),
			"chart": page("/counters/chart?name="+at, `id="totals"[^>]*><li><bdi>[^<]*</bdi>: <b>([\d,]+) hit`),
			"top":   page("/counters?prefix="+at, `<td class="total">([\d,]+)<`),
		}
		if what == "hits" {
			all[what]["operations"] = page("/operations", `data-text="hits.today">([\d,]+) today`)
			continue
		}
		all[what]["home"] = page("/", `name=`+regexp.QuoteMeta(url.QueryEscape(metric))+`">[^<]*</a></th><td>[^<]*</td><td>([\d,]+)<`)
	}
	all["refused"]["data"] = page("/data", `id="refused-today">([\d,]+)<`)
	return all, failed
}

// textOf returns a page as a browser gets it.
func textOf(address string) (string, error) {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "text/html")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
