// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/storage"
)

const hitsRoute = "/v1/hits"

// hitOf returns a hit made of JSON tokens: a metric and the rest.
func hitOf(metric, rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	return `{"metric":` + metric + rest + `}`
}

func at(when time.Time) string { return `"at":"` + when.UTC().Format(time.RFC3339Nano) + `"` }

// hits sends a batch of hits made of JSON tokens. The verdict is that on the last hit.
func (t *trial) hits(hits []string, headers ...string) verdict {
	t.Helper()
	v := t.send(http.MethodPost, hitsRoute, strings.NewReader(`{"hits":[`+strings.Join(hits, ",")+`]}`), headers...)
	if v.status != http.StatusOK {
		return v
	}
	var answer httpapi.HitResponse
	if err := json.Unmarshal(v.body, &answer); err != nil || len(answer.Results) != len(hits) {
		t.Errorf("answered %s: %v", v.body, err)
		return v
	}
	if f := answer.Results[len(hits)-1].Error; f != nil {
		v.status, v.code, v.pointer = statusOf[f.Code], f.Code, f.Pointer
		if v.status == 0 || f.Outcome != httpapi.NotApplied || f.Pointer == "" || f.Detail == "" || len(f.Detail) > 700 {
			t.Errorf("no good refusal: %s", v.body)
		}
	}
	return v
}

func (t *trial) hit(metric, rest string) verdict {
	t.Helper()
	return t.hits([]string{hitOf(quoted([]byte(metric)), rest)})
}

// series reads the steps of some days up to the end of tomorrow, and checks the sums of every answer.
func (t *trial) series(metric string, days int, step counter.Step) (line httpapi.SeriesLine, times []time.Time) {
	t.Helper()
	today := time.Now().UTC()
	query := url.Values{"metric": {metric}, "from": {today.AddDate(0, 0, -days).Format(time.DateOnly)},
		"to": {today.AddDate(0, 0, 2).Format(time.DateOnly)}, "step": {string(step)}}
	v := t.send(http.MethodGet, "/v1/series?"+query.Encode(), nil)
	var s httpapi.Series
	if v.status != http.StatusOK || json.Unmarshal(v.body, &s) != nil || len(s.Lines) != 1 || s.Lines[0].Metric != metric {
		t.Errorf("series of %q: %d %.300s", metric, v.status, v.body)
		return httpapi.SeriesLine{}, nil
	}
	if sum, total := sums(s.Lines[0]); sum != total {
		t.Errorf("%q: the days hold %d, their %ss %d", metric, total, step, sum)
	}
	return s.Lines[0], s.Times
}

// sums returns the sums of the steps and of the days of a line, which must be equal.
func sums(line httpapi.SeriesLine) (steps, days int64) {
	for _, v := range line.Values {
		if v != counter.Null {
			steps += int64(v)
		}
	}
	if line.Total != nil {
		days = *line.Total
	}
	return steps, days
}

// counts checks the count of a metric in the last days, at every step.
func (t *trial) counts(metric string, want int64) {
	t.Helper()
	for _, step := range []counter.Step{counter.ByDay, counter.ByHour} {
		if line, _ := t.series(metric, 8, step); line.Total != nil && *line.Total != want {
			t.Errorf("%q was counted %d times, want %d", metric, *line.Total, want)
		}
	}
}

// put adds to the stored count of an existing metric, directly in the store.
func (t *trial) put(metric string, n int64) {
	t.Helper()
	explained, err := t.svc.Counters().Recorder().Explain(t.Context(), counter.Metric(metric), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	id, err := cell.ParseID(explained.Cell)
	if err != nil {
		t.Fatal(err)
	}
	c, err := t.cells.Cell(id)
	if err == nil {
		err = c.Update(t.Context(), func(tx storage.Tx) error {
			_, err := tx.AddTallies(t.Context(), []counter.Tally{{ID: explained.ID, Minute: counter.MinuteOf(time.Now()), N: n}})
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fitsMetric reports whether an accepted identifier is short enough for a metric.
func fitsMetric(e *badInput, raw []byte) bool {
	return (e.Expect.Identifier == "kept" || e.Expect.Identifier == "limit") && len(raw) <= counter.MaxMetric
}

// tryStringAsMetric sends a string as a metric, and as every parameter that names one.
func tryStringAsMetric(t *trial, e *badInput, token string, raw []byte) {
	v := t.hits([]string{hitOf(token, "")})
	text := string(raw)
	if fitsMetric(e, raw) {
		v.is(t, "as a metric", http.StatusOK)
		t.counts(text, 1)
		return
	}
	v.is(t, "as a metric", 400, 413, 422)
	if e.As == "json" || len(raw) > 2000 {
		return
	}
	query := url.QueryEscape(text)
	for _, path := range []string{"/v1/series?from=2026-01-01&to=2026-01-02&step=day&metric=" + query, "/v1/series?from=2026-01-01&to=2026-01-02&step=day&prefix=" + query, "/v1/metrics?prefix=" + query, "/v1/top?prefix=" + query} {
		t.send(http.MethodGet, path, nil).is(t, path[:min(20, len(path))], 200, 400, 404, 422)
	}
}

// tryMetric sends unusual hits and series queries.
func tryMetric(t *trial, e *badInput) {
	name, now := "m "+e.ID, time.Now().UTC()
	today := now.Truncate(24 * time.Hour)
	switch e.ID {
	case "M10":
		overflow(t, e, name, 99)
	case "M11":
		t.hits([]string{hitOf(quoted([]byte(name)), at(today.Add(-time.Millisecond))),
			hitOf(quoted([]byte(name)), at(today))}).check(t, e)
		line, times := t.series(name, 8, counter.ByDay)
		for i, day := range times {
			if v := line.Values[i]; (day.Equal(today) || day.Equal(today.AddDate(0, 0, -1))) != (v == 1) {
				t.Errorf("the day %v holds %d", day, v)
			}
		}
	case "M12":
		yesterday := today.AddDate(0, 0, -1)
		t.hits([]string{hitOf(quoted([]byte(name)), at(yesterday)),
			hitOf(quoted([]byte(name)), at(today.Add(-time.Nanosecond)))}).check(t, e)
		line, times := t.series(name, 1, counter.ByMinute)
		for i, v := range line.Values {
			if minute := times[i].Sub(yesterday); (minute == 0 || minute == 1439*time.Minute) != (v == 1) {
				t.Errorf("minute %v holds %d", minute, v)
			}
		}
	case "M13", "D10":
		t.hit(name, at(now.Add(-counter.Window-time.Second))).check(t, e)
		t.hit(name, at(now.Add(-counter.Window+30*time.Second))).is(t, "late, but not too late", http.StatusOK)
		t.counts(name, 1)
	case "M14", "D11":
		t.hit(name, at(now.Add(6*time.Minute))).check(t, e)
		t.hit(name, at(now.Add(4*time.Minute))).is(t, "4 minutes ahead", http.StatusOK)
	case "M15":
		quota(t, e)
	case "M16":
		atOnce(t, name)
	case "M17", "M18":
		afterItsTime(t, e, name)
	case "M19":
		whileWriting(t, name)
	case "M20", "M21":
		t.hit(name, "").is(t, "a hit", http.StatusOK)
		query := "from=1926-01-01&to=2026-01-01&step=minute"
		if e.ID == "M21" {
			query = "from=2026-01-02&to=2026-01-01&step=day"
		}
		t.send(http.MethodGet, "/v1/series?"+query+"&metric="+url.QueryEscape(name), nil).check(t, e)
	case "M22", "M23":
		t.hit(name, "").is(t, "a hit", http.StatusOK)
		t.send(http.MethodGet, "/v1/series?from=2026-01-01&to=2026-01-02&metric="+url.QueryEscape(name)+"&step="+url.QueryEscape(string(e.bytes(t.T))), nil).check(t, e)
	case "M24":
		t.hit(name, at(now.AddDate(0, 0, -3))).check(t, e)
		if err := t.svc.Counters().Recorder().Maintain(t.Context()); err != nil { // compacts that day
			t.Fatal(err)
		}
		t.hit(name, at(now.AddDate(0, 0, -3))).check(t, e)
		t.counts(name, 2)
	case "M25":
		t.hits([]string{hitOf(quoted([]byte(name)), at(now)), hitOf(quoted([]byte(name+" other")), at(now))},
			"Idempotency-Key", "m25").check(t, e)
		t.counts(name, 1)
		t.counts(name+" other", 1)
	case "M07", "M08", "M09":
		t.hit(name, `"n":`+string(e.bytes(t.T))).check(t, e)
	default:
		text := string(e.bytes(t.T))
		before := t.send(http.MethodGet,
			"/v1/series?from=2026-01-01&to=2026-01-02&step=day&metric="+url.QueryEscape(text), nil)
		v := t.hit(text, "")
		v.check(t, e)
		if v.status == http.StatusOK {
			if before.status == http.StatusNotFound { // otherwise it was sent as a string
				t.counts(text, 1)
			}
			t.listed(text)
		}
	}
}

// listed checks that a metric is in the list, and that the console shows it as text.
func (t *trial) listed(metric string) {
	t.Helper()
	v := t.send(http.MethodGet, "/v1/metrics?prefix="+url.QueryEscape(metric), nil)
	var list httpapi.MetricList
	if err := json.Unmarshal(v.body, &list); err != nil || !slices.ContainsFunc(list.Metrics, func(m httpapi.Metric) bool { return m.Metric == metric }) {
		t.Errorf("%q is not listed: %.300s", metric, v.body)
	}
	page := t.send(http.MethodGet, "/counters/metric?name="+url.QueryEscape(metric), nil)
	page.is(t, "its page", http.StatusOK)
	if !strings.Contains(html.UnescapeString(string(page.body)), metric) {
		t.Errorf("the page of %q does not name it", metric)
	}
	t.asText(page)
	for _, theme := range []string{"light", "dark"} {
		t.asText(t.send(http.MethodGet, "/counters/picture?view=day&theme="+theme+"&name="+url.QueryEscape(metric), nil))
	}
}

// asText checks that a page contains only its own scripts, and that no text ends one of them early.
func (t *trial) asText(page verdict) {
	t.Helper()
	if begins := bytes.Count(page.body, []byte("<script")); begins != bytes.Count(page.body, []byte("</script>")) || bytes.Contains(page.body, []byte("alert(1)</")) {
		t.Errorf("a name stands in its page as it is: %.2000s", page.body)
	}
}

// overflow fills a metric up to the largest number: one hit more is rejected, without effect on the others.
func overflow(t *trial, e *badInput, name string, others int) {
	t.hit(name, "").is(t, "the first hit", http.StatusOK)
	t.put(name, math.MaxInt64-3)
	hits := make([]string, 0, others+1)
	for i := range others {
		hits = append(hits, hitOf(quoted([]byte(fmt.Sprint(name, " ", i%40))), ""))
	}
	v := t.hits(append(hits, hitOf(quoted([]byte(name)), `"n":5`)))
	if v.code != httpapi.CodeOverflow {
		t.Errorf("%s: %d %s, want %s", e.Name, v.status, v.code, httpapi.CodeOverflow)
	}
	t.counts(name, math.MaxInt64-2)
	for i := range min(others, 40) {
		t.counts(fmt.Sprint(name, " ", i), int64((others-i+39)/40))
	}
}

// quota fills an installation with metrics; the list has ten times as many.
func quota(t *trial, e *badInput) {
	small := &trial{T: t.T, target: startTarget(t.T, 4, counter.Options{Quota: 100})}
	name := func(i int) string { return hitOf(quoted([]byte(fmt.Sprint("quota ", i))), "") }
	counted := 0
	for i := range 20 {
		var hits []string
		for n := range 10 {
			hits = append(hits, name(10*i+n))
		}
		v := small.hits(hits)
		var answer httpapi.HitResponse
		if err := json.Unmarshal(v.body, &answer); err != nil {
			t.Fatalf("%v: %s", err, v.body)
		}
		for _, r := range answer.Results {
			if r.Error == nil {
				counted++
			} else if string(r.Error.Code) != e.Expect.Code {
				t.Errorf("refused with %s", r.Error.Code)
			}
		}
	}
	if counted < 100 || counted > 120 {
		t.Errorf("%d metrics were counted, want 100 or a batch more", counted)
	}
	small.hits([]string{name(1000)}).check(t, e)
	small.hits([]string{name(0)}).is(t, "a metric that is there", http.StatusOK)
}

// atOnce sends one batch a hundred times concurrently. TestP01_P02_P03_KilledServersCount does so at two servers.
func atOnce(t *trial, name string) {
	hits := []string{hitOf(quoted([]byte(name)), at(time.Now())+`,"n":3`),
		hitOf(quoted([]byte(name+" other")), at(time.Now()))}
	var all sync.WaitGroup
	var answers sync.Map
	for range 100 {
		all.Go(func() {
			v := t.hits(hits, "Idempotency-Key", "m16")
			v.is(t, "at once", http.StatusOK)
			answers.Store(string(v.body), true)
		})
	}
	all.Wait()
	different := 0
	answers.Range(func(any, any) bool { different++; return true })
	if different != 1 {
		t.Errorf("%d different answers", different)
	}
	t.counts(name, 3)
	t.counts(name+" other", 1)
}

// afterItsTime repeats a batch after its key has expired, with the clock at that time and set back.
func afterItsTime(t *trial, e *badInput, name string) {
	var ahead atomic.Int64
	start := time.Now()
	later := &trial{T: t.T, target: startTarget(t.T, 1, counter.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})}
	hit := []string{hitOf(quoted([]byte(name)), at(start))}
	later.hits(hit, "Idempotency-Key", "late").is(t, "the first time", http.StatusOK)
	ahead.Store(int64(counter.Window + time.Hour))
	if err := later.svc.Counters().Recorder().Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e.ID == "M18" {
		ahead.Add(-int64(2 * time.Hour))
	}
	later.hits(hit, "Idempotency-Key", "late").check(t, e)
	later.counts(name, 1)
}

// whileWriting reads a day while hits are counted on it; the list has more readers and writers.
func whileWriting(t *trial, name string) {
	t.hit(name, "").is(t, "a hit", http.StatusOK)
	var writers sync.WaitGroup
	var done atomic.Bool
	var sent atomic.Int64
	sent.Store(1)
	for range 4 {
		writers.Go(func() {
			for !done.Load() {
				t.hit(name, "").is(t, "a hit", http.StatusOK)
				sent.Add(1)
			}
		})
	}
	for i := range 30 {
		t.series(name, 1, []counter.Step{counter.ByMinute, counter.ByHour, counter.ByDay}[i%3])
	}
	done.Store(true)
	writers.Wait()
	t.counts(name, sent.Load())
}

// tryKeys sends invalid keys of batches.
func tryKeys(t *trial, e *badInput) {
	now := time.Now()
	one, two := hitOf(`"keys"`, at(now)), hitOf(`"keys"`, at(now)+`,"n":2`)
	switch e.ID {
	case "J24", "J25":
		t.hits([]string{one}, "Idempotency-Key", e.ID).is(t, "the first batch", http.StatusOK)
		if e.ID == "J24" {
			v := t.hits([]string{one}, "Idempotency-Key", e.ID)
			v.check(t, e)
			if v.header.Get("Idempotent-Replayed") != "true" {
				t.Error("the repeat is not said to be one")
			}
			return
		}
		v := t.hits([]string{two}, "Idempotency-Key", e.ID)
		v.is(t, "another batch", http.StatusUnprocessableEntity)
		if string(v.code) != e.Expect.Code {
			t.Errorf("code %s, want %s", v.code, e.Expect.Code)
		}
		t.counts("keys", 2) // J24 and J25
	case "J26":
		overflow(t, e, "j26", 999)
	case "H33", "H39", "H40":
		body := `{"hits":[` + hitOf(`"never"`, at(now)) + `]}`
		t.raw("POST "+hitsRoute+" HTTP/1.1\r\n"+t.placed("{head}")+string(e.bytes(t.T))+fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(body), body), false).check(t, e)
		t.send(http.MethodGet, "/v1/series?metric=never&from=2026-01-01&to=2026-01-02&step=day", nil).is(t,
			"what was never counted", http.StatusNotFound)
	}
}

// tryPictured checks how the console shows names and large counts.
func tryPictured(t *trial, e *badInput) {
	if e.ID == "C11" {
		t.hit("large", "").is(t, "a hit", http.StatusOK)
		t.put("large", 9007199254740992)
		t.counts("large", 9007199254740993)
		page := t.send(http.MethodGet, "/counters/metric?name=large", nil)
		if !strings.Contains(strings.NewReplacer(",", "", "\u202f", "", "\u00a0", "", "\u2009", "").Replace(string(page.body)), "9007199254740993") {
			t.Error("its page does not show 9007199254740993")
		}
		return
	}
	text := string(e.bytes(t.T))
	t.hit(text, "").is(t, e.Name, http.StatusOK)
	t.listed(text)
	t.asText(t.send(http.MethodGet, "/counters", nil))
}

// tryNumberAsN sends a number that is invalid for a hit.
func tryNumberAsN(t *trial, token string, refused ...int) {
	t.hits([]string{hitOf(`"numbers"`, `"n":`+token)}).is(t, "as n", refused...)
	t.hits([]string{hitOf(`"readings"`, `"value":`+token)}).is(t, "as a reading",
		append([]int{http.StatusOK}, refused...)...)
	t.send(http.MethodGet, "/v1/top?k="+url.QueryEscape(token), nil).is(t, "as k", 400, 422)
}
