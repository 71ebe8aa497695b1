// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	library "github.com/locus-db/locus/client"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
)

// hitters are clients that send hits over connections that lose replies, and know which counts are correct. Half of
// them number their batches and half give each a key. All repeat a batch until it is acknowledged, and sometimes after
// that. Two share a client of package client, which does so itself. One client sends neither key nor number: its counts
// must be too high, otherwise the test has proved nothing.
type hitters struct {
	clientele
	lines    []string // one to each process
	today    time.Time
	clients  []*hitter
	lost     atomic.Int64     // lost replies
	unkeyed  atomic.Int64     // hits of the client without keys
	repeated atomic.Int64     // batches repeated after an acknowledgement
	sent     map[string]int64 // by metric
	acked    map[string]int64
	minutes  map[string]map[time.Time]int64 // acknowledged hits
	loose    int64                          // hits of the client without keys
}

// hitter is a client that sends one batch after another.
type hitter struct {
	*hitters
	n      int
	random *rand.Rand
	seq    int
}

// pages is the name prefix of metrics that are counted exactly; careless is the metric that is not.
const (
	pages    = "page /$inc."
	careless = "careless"
)

func newHitters(f *fleet, clients int, seed uint64) *hitters {
	h := &hitters{
		clientele: clientele{t: f.t, fleet: f, refused: map[string]int{}}, today: time.Now().UTC().Truncate(24 * time.Hour),
		sent: map[string]int64{}, acked: map[string]int64{}, minutes: map[string]map[time.Time]int64{},
	}
	for _, n := range f.nodes {
		h.lines = append(h.lines, h.line(n))
	}
	for n := range clients {
		h.clients = append(h.clients, &hitter{hitters: h, n: n, random: rand.New(rand.NewPCG(seed, uint64(n)))})
	}
	return h
}

// line is a connection to a process that drops every fourth answer.
func (h *hitters) line(n *node) string {
	var answers atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, n.url()+r.URL.RequestURI(), r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		out.Header = r.Header.Clone()
		response, err := client.Do(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if answers.Add(1)%4 == 0 {
			h.lost.Add(1)
			keyed := r.Header.Get("Idempotency-Key") != "" || r.Header.Get("Locus-Producer") != ""
			if r.Method == http.MethodPost && !keyed && response.StatusCode == http.StatusOK {
				h.unkeyed.Add(1)
			}
			panic(http.ErrAbortHandler)
		}
		maps.Copy(w.Header(), response.Header)
		w.WriteHeader(response.StatusCode)
		_, _ = w.Write(body) // a client that has left will repeat
	}))
	h.t.Cleanup(s.Close)
	return s.URL
}

// begin starts the clients, and a reader for each process.
func (h *hitters) begin() {
	ctx := h.start()
	for _, c := range h.clients {
		h.running.Go(func() {
			for ctx.Err() == nil && !h.t.Failed() {
				c.step()
				rest(ctx)
			}
		})
	}
	h.running.Go(func() { h.carelessly(ctx) })
	if !h.fills { // after a lost answer and a full disk the library does not know whether a hit was counted
		h.running.Go(func() { h.shared(ctx) })
	}
	for i, n := range h.fleet.nodes {
		random := rand.New(rand.NewPCG(99, uint64(i)))
		h.running.Go(func() {
			for ctx.Err() == nil {
				h.look(n, random)
				rest(ctx)
			}
		})
	}
}

// at returns one of the times of hits: now, around the last midnight, or late by days.
func (c *hitter) at() time.Time {
	switch c.random.IntN(6) {
	case 0:
		return c.today.Add(-time.Millisecond)
	case 1:
		return c.today
	case 2:
		return c.today.AddDate(0, 0, -3).Add(time.Duration(c.random.IntN(4)*400) * time.Minute)
	default:
		return time.Now().UTC().Truncate(time.Millisecond)
	}
}

// batch returns the next batch of a client, and the times of its hits.
func (c *hitter) batch() (batch httpapi.HitRequest, times []time.Time) {
	for range 1 + c.random.IntN(12) {
		n, at := int64(1+c.random.IntN(5)), c.at()
		times = append(times, at)
		batch.Hits = append(batch.Hits,
			httpapi.HitInput{Metric: fmt.Sprint(pages, c.random.IntN(8)), At: at.Format(time.RFC3339Nano), N: &n})
	}
	return batch, times
}

// shared runs two callers that share one client of package client.
func (h *hitters) shared(ctx context.Context) {
	c, err := library.New(h.lines[0], &library.Options{Timeout: 10 * time.Second, Patience: patience})
	if err != nil {
		h.t.Error(err)
		return
	}
	var callers sync.WaitGroup
	for n := range 2 {
		one := &hitter{hitters: h, n: n, random: rand.New(rand.NewPCG(98, uint64(n)))}
		callers.Go(func() {
			for ctx.Err() == nil && !h.t.Failed() {
				batch, times := one.batch()
				var hits []counter.Hit
				for i, hit := range batch.Hits {
					hits = append(hits, counter.Hit{Metric: counter.Metric(hit.Metric), At: times[i], N: *hit.N})
				}
				one.note(batch, times, false)
				results, err := c.Add(h.t.Context(), hits)
				if err = errors.Join(append(results, err)...); err != nil {
					if !h.t.Failed() {
						h.t.Errorf("the library: %v", err)
					}
					return
				}
				one.note(batch, times, true)
				h.acks.Add(1)
				rest(ctx)
			}
		})
	}
	callers.Wait()
	if err := c.Close(h.t.Context()); err != nil {
		h.t.Errorf("close the library's client: %v", err)
	}
}

// step sends a batch until it is acknowledged, and sometimes once more.
func (c *hitter) step() {
	batch, times := c.batch()
	c.seq++
	headers := http.Header{"Idempotency-Key": {fmt.Sprintf("client-%d/%d", c.n, c.seq)}}
	if c.n%2 == 0 {
		headers = http.Header{"Locus-Producer": {fmt.Sprintf("%032x", 1+c.n)}, "Locus-Seq": {fmt.Sprint(c.seq)}}
	}
	c.note(batch, times, false)
	if !c.deliver(batch, headers, false) {
		return
	}
	c.note(batch, times, true)
	c.acks.Add(1)
	if c.random.IntN(3) == 0 && c.deliver(batch, headers, true) {
		c.repeated.Add(1)
	}
}

// note records the hits that are sent or acknowledged.
func (c *hitter) note(batch httpapi.HitRequest, times []time.Time, acked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, hit := range batch.Hits {
		if !acked {
			c.sent[hit.Metric] += *hit.N
			continue
		}
		c.acked[hit.Metric] += *hit.N
		if c.minutes[hit.Metric] == nil {
			c.minutes[hit.Metric] = map[time.Time]int64{}
		}
		c.minutes[hit.Metric][times[i].Truncate(time.Minute)] += *hit.N
	}
}

// deliver sends a batch to one process after another until it is acknowledged. A batch that was acknowledged before
// must be answered as a replay.
func (c *hitter) deliver(batch httpapi.HitRequest, headers http.Header, before bool) bool {
	for attempt := 0; ; attempt++ {
		which := (c.n + attempt) % len(c.lines)
		replayed, err := hit(c.lines[which], batch, headers)
		if err == nil {
			if before && !replayed {
				c.t.Errorf("process %d counts the batch %v again", which, headers)
			}
			return true
		}
		if !c.again(c.n, c.fleet.nodes[which], attempt, err) {
			return false
		}
	}
}

// carelessly counts single hits, and counts a hit again if its answer is lost. It ends when the clients must end and
// one of its answers was lost.
func (h *hitters) carelessly(ctx context.Context) {
	one := httpapi.HitRequest{Hits: []httpapi.HitInput{{Metric: careless}}}
	for i := 0; (ctx.Err() == nil || h.unkeyed.Load() == 0) && !h.t.Failed(); i++ {
		which := i % len(h.lines)
		if _, err := hit(h.lines[which], one, nil); err != nil {
			h.refuse(h.fleet.nodes[which], "write", err)
			continue
		}
		h.mu.Lock()
		h.loose++
		h.mu.Unlock()
		rest(ctx)
	}
}

// hit sends a batch of hits. Without an error it is counted.
func hit(base string, batch httpapi.HitRequest, headers http.Header) (replayed bool, err error) {
	var answer httpapi.HitResponse
	said, err := postJSON(context.Background(), base+"/v1/hits", headers, batch, &answer)
	if err != nil {
		return false, err
	}
	for _, r := range answer.Results {
		if r.Error != nil {
			return false, r.Error
		}
	}
	if len(answer.Results) != len(batch.Hits) {
		return false, fmt.Errorf("%d results of %d hits", len(answer.Results), len(batch.Hits))
	}
	return said.Get("Idempotent-Replayed") == "true", nil
}

// series reads all pages of a range of days.
func (n *node) series(from, to time.Time, step counter.Step) (s httpapi.Series, err error) {
	query := url.Values{"prefix": {pages}, "from": {from.Format(time.DateOnly)}, "to": {to.Format(time.DateOnly)},
		"step": {string(step)}}
	return s, get(n.url(), "/v1/series", query, &s)
}

// look checks a current answer: the days are the sums of their steps, and contain everything acknowledged before the
// request and nothing that was never sent.
func (h *hitters) look(n *node, random *rand.Rand) {
	from, to, whole := h.today.AddDate(0, 0, -6), h.today.AddDate(0, 0, 2), true
	step := []counter.Step{counter.ByDay, counter.ByHour, counter.ByMinute}[random.IntN(3)]
	if step == counter.ByMinute {
		from = h.today.AddDate(0, 0, -random.IntN(2))
		to, whole = from.AddDate(0, 0, 1), false
	}
	h.mu.Lock()
	least := maps.Clone(h.acked)
	h.mu.Unlock()
	s, err := n.series(from, to, step)
	p, answered := errors.AsType[*httpapi.Problem](err)
	if answered && p.Code == httpapi.CodeNotFound {
		return
	}
	if err != nil {
		h.refuse(n, "read", err)
		return
	}
	h.mu.Lock()
	most := maps.Clone(h.sent)
	h.mu.Unlock()
	for _, line := range s.Lines {
		sum, total := sums(line)
		if sum != total {
			h.t.Errorf("process %d: %s: the days from %v to %v hold %d, their %ss %d", n.index, line.Metric, from, to,
				total, step, sum)
		}
		if whole && (total < least[line.Metric] || total > most[line.Metric]) {
			h.t.Errorf("process %d: %s: counted %d, acknowledged before %d, sent until now %d", n.index, line.Metric, total,
				least[line.Metric], most[line.Metric])
		}
	}
	h.read.Add(1)
}

// exact checks, after the clients have ended, that every process returns the acknowledged counts for every minute, hour
// and day, that the top lists agree, and that the client without a key counted too much.
func (h *hitters) exact() {
	h.t.Helper()
	days, top := map[time.Time]bool{}, map[time.Time]map[string]int64{}
	for metric, minutes := range h.minutes {
		for at, n := range minutes {
			day := at.Truncate(24 * time.Hour)
			if days[day] = true; top[day] == nil {
				top[day] = map[string]int64{}
			}
			top[day][metric] += n
		}
	}
	first, last := h.today.AddDate(0, 0, -6), h.today.AddDate(0, 0, 2)
	for _, n := range h.fleet.nodes {
		h.compare(n, first, last, counter.ByDay)
		h.compare(n, first, last, counter.ByHour)
		for day := range days {
			h.compare(n, day, day.AddDate(0, 0, 1), counter.ByMinute)
			var highest httpapi.Top
			if err := n.get("/v1/top", &highest, "day", day.Format(time.DateOnly), "prefix", pages, "k", "100"); err != nil {
				h.t.Fatal(err)
			}
			got := map[string]int64{}
			for _, m := range highest.Metrics {
				got[m.Metric] = m.N
			}
			if !maps.Equal(got, top[day]) {
				h.t.Errorf("process %d: the highest of %v are %v, want %v", n.index, day, got, top[day])
			}
		}
	}
	var s httpapi.Series
	if err := h.fleet.nodes[0].get("/v1/series", &s, "metric", careless, "from", first.Format(time.DateOnly), "to", last.Format(time.DateOnly), "step", "day"); err != nil {
		h.t.Fatal(err)
	}
	if s.Lines[0].Total == nil || *s.Lines[0].Total <= h.loose {
		h.t.Errorf("without keys %v hits are counted of %d, although answers were lost: the run proves nothing",
			s.Lines[0].Total, h.loose)
	}
	h.t.Logf("%d batches, %d of them repeated later, %d answers lost; %d series read; refused %v",
		h.acks.Load(), h.repeated.Load(), h.lost.Load(), h.read.Load(), h.refusals())
}

// compare compares every value of a range with the acknowledged hits.
func (h *hitters) compare(n *node, from, to time.Time, step counter.Step) {
	h.t.Helper()
	s, err := n.series(from, to, step)
	if err != nil {
		h.t.Fatalf("process %d: %v", n.index, err)
	}
	size := map[counter.Step]time.Duration{counter.ByMinute: time.Minute, counter.ByHour: time.Hour,
		counter.ByDay: 24 * time.Hour}[step]
	wrong, lines := 0, map[string]bool{}
	for _, line := range s.Lines {
		lines[line.Metric] = true
		want := map[time.Time]int64{}
		for at, v := range h.minutes[line.Metric] {
			want[at.Truncate(size)] += v
		}
		for i, at := range s.Times {
			got := int64(max(0, line.Values[i]))
			if got != want[at.UTC()] {
				if wrong++; wrong < 10 {
					h.t.Errorf("process %d: %s: the %s %v holds %d, want %d", n.index, line.Metric, step, at, got, want[at.UTC()])
				}
			}
		}
	}
	for metric := range h.minutes {
		if !lines[metric] {
			h.t.Errorf("process %d: there is no line of %s", n.index, metric)
		}
	}
}
