// SPDX-License-Identifier: Apache-2.0

//go:build unix

package flow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/bench/internal/processor"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/sink"
	_ "github.com/locus-db/locus/sink/file"
	_ "github.com/locus-db/locus/sink/postgres"
	_ "github.com/locus-db/locus/sink/webhook"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/storage"
)

// receiver receives webhooks.
type receiver struct {
	*httptest.Server
	received  atomic.Int64
	now, most atomic.Int64

	mu   sync.Mutex
	when map[string]time.Time // by record, when the last event with it came
}

func newReceiver(b *testing.B) *receiver {
	r := &receiver{when: map[string]time.Time{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		r.most.Store(max(r.most.Load(), r.now.Add(1)))
		defer r.now.Add(-1)
		var event sink.Event
		if err := json.NewDecoder(req.Body).Decode(&event); err != nil {
			b.Error(err)
		}
		r.took(&event)
	}))
	b.Cleanup(r.Close)
	return r
}

// took notes an event.
func (r *receiver) took(event *sink.Event) {
	r.received.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ref := range event.Records {
		if _, before := r.when[ref]; !before {
			r.when[ref] = time.Now()
		}
	}
}

// memory is a target that costs nothing, in batches of the size of those of a table.
type memory struct{ *receiver }

func (m memory) Deliver(_ context.Context, batch sink.Batch) error {
	for i := range batch.Events {
		m.took(&batch.Events[i])
	}
	return nil
}

func (memory) Position(context.Context) (sink.Position, error) {
	return sink.Position{}, sink.ErrNoPosition
}
func (memory) Close() error { return nil }

// newMemory returns a receiver without a server, and the URL of its target.
func newMemory() (*receiver, string) {
	r := &receiver{when: map[string]time.Time{}}
	sink.Register(sink.Driver{
		Check: func(*url.URL) error { return nil },
		Open:  func(context.Context, sink.Spec) (sink.Sink, error) { return memory{r}, nil },
		Lanes: 1, Batch: 500,
	}, "memory")
	return r, "memory:here"
}

// create creates a sink and waits until it has delivered n events.
func create(b *testing.B, db *locus.DB, name, to string, n int64) {
	b.Helper()
	if _, _, err := db.Sinks().Create(b.Context(), sinks.Definition{Name: name, To: to}); err != nil {
		b.Fatal(err)
	}
	until(b, func() bool { return db.Sinks().Running()[name].Delivered >= n })
}

// BenchmarkFill fills sinks with the entities of an installation.
func BenchmarkFill(b *testing.B) {
	for name, to := range map[string]func(*testing.B) (string, *pgtest.Server){
		"webhook": func(b *testing.B) (string, *pgtest.Server) { return newReceiver(b).URL, nil },
		"file":    func(*testing.B) (string, *pgtest.Server) { return "file:golden", nil },
		"postgres": func(b *testing.B) (string, *pgtest.Server) {
			server := pgtest.Start(b, &pgtest.Options{InMemory: true})
			return server.Remote(b, server.Database(b)) + "&table=golden", server
		},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				db := open(b, locus.Options{Hold: true, Sinks: &sinks.Options{Files: b.TempDir(), UnsafeDurability: true}})
				load(b, db, inputs(demo.New(3, *size), 0, *size))
				counts := entities(b, db)
				url, server := to(b)
				measure(server, func() { create(b, db, "s", url, counts) }).report(b, "state", counts)
			}
		})
	}
}

func entities(b *testing.B, db *locus.DB) (n int64) {
	b.Helper()
	for _, err := range db.Entities().All(b.Context(), nil) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	return n
}

// BenchmarkFollow puts records at a rate in calls of 100, with and without a sink in turn: a webhook, or a target in
// memory, which shows what following alone costs. The lag of a record is the time from the end of its put until an event
// with it is received. The processor time of an event is what a turn with the sink takes more than one without, until
// all is delivered, receiver included.
func BenchmarkFollow(b *testing.B) {
	for name, to := range map[string]func(*testing.B) (*receiver, string){
		"webhook": func(b *testing.B) (*receiver, string) { r := newReceiver(b); return r, r.URL },
		"memory":  func(*testing.B) (*receiver, string) { return newMemory() },
	} {
		b.Run(name, func(b *testing.B) { follow(b, to) })
	}
}

func follow(b *testing.B, to func(*testing.B) (*receiver, string)) {
	const each, calls, turns = 100, 30, 6
	for range b.N {
		db := open(b, locus.Options{Storage: storage.Options{Cells: 4}, Sinks: &sinks.Options{}})
		g := demo.New(3, *size+turns*each*calls)
		put(b, db, inputs(g, 0, *size), 1000)
		next := *size
		var took [2][]time.Duration
		var used [2]time.Duration
		var events int64
		var clock time.Duration
		var lags []time.Duration
		for turn := range turns {
			with := turn % 2
			var r *receiver
			name := fmt.Sprint("s", turn)
			if with == 1 {
				var url string
				r, url = to(b)
				create(b, db, name, url, entities(b, db))
				until(b, func() bool { return db.Sinks().Running()[name].Lag == 0 })
			}
			stored := map[string]time.Time{}
			begun, before := time.Now(), processor.Time()
			var already int64
			if with == 1 {
				already = r.received.Load()
			}
			tick := time.NewTicker(time.Second * each / time.Duration(*rate))
			for range calls {
				<-tick.C
				batch := inputs(g, next, next+each)
				next += each
				begun := time.Now()
				put(b, db, batch, each)
				took[with] = append(took[with], time.Since(begun))
				for i := range batch {
					stored[batch[i].Ref.String()] = time.Now()
				}
			}
			tick.Stop()
			clock += time.Since(begun)
			if with == 0 {
				used[with] += processor.Time() - before
				continue
			}
			until(b, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.has(stored) })
			used[with] += processor.Time() - before
			events += r.received.Load() - already
			for ref, at := range stored {
				lags = append(lags, r.when[ref].Sub(at))
			}
			if err := db.Sinks().Delete(b.Context(), name); err != nil {
				b.Fatal(err)
			}
			until(b, func() bool { _, runs := db.Sinks().Running()[name]; return !runs })
		}
		share := func(of []time.Duration, part float64) float64 {
			slices.Sort(of)
			return float64(of[int(part*float64(len(of)-1))].Microseconds()) / 1000
		}
		b.ReportMetric(turns*each*calls/clock.Seconds(), "records/s")
		b.ReportMetric(share(took[0], .5), "put-p50-ms-without")
		b.ReportMetric(share(took[1], .5), "put-p50-ms-with")
		b.ReportMetric(share(took[1], .5)/share(took[0], .5), "put-p50-ratio")
		b.ReportMetric(float64((used[1]-used[0]).Microseconds())/float64(events), "cpu-us/event")
		b.ReportMetric(float64(used[0].Microseconds())/(turns/2*each*calls), "cpu-us/record-without")
		b.ReportMetric(float64(events)/(turns/2*each*calls), "events/record")
		b.ReportMetric(share(lags, .5), "lag-p50-ms")
		b.ReportMetric(share(lags, .99), "lag-p99-ms")
	}
}

// has reports whether all records were received.
func (r *receiver) has(stored map[string]time.Time) bool {
	for ref := range stored {
		if _, came := r.when[ref]; !came {
			return false
		}
	}
	return true
}
