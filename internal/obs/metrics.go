// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/buildinfo"
	"github.com/locus-db/locus/resolve"
)

// Metrics are the metrics of one process. All methods are safe for concurrent use.
type Metrics struct {
	scrape   http.Handler
	own      []prometheus.Collector // Locus's own collectors
	records  *prometheus.CounterVec
	requests *prometheus.HistogramVec
	waiting  *prometheus.GaugeVec
	refused  *prometheus.CounterVec
	batches  *prometheus.CounterVec
	rounds   *prometheus.HistogramVec
	hits     *prometheus.CounterVec
	groups   *prometheus.HistogramVec
	grouped  prometheus.Histogram
	watch    watch
	line     lineMetrics
	rollups  rollupMetrics
	sinks    sinkMetrics
	sources  sourceMetrics
}

// NewMetrics returns new metrics with a registry of their own.
func NewMetrics() *Metrics {
	m := &Metrics{
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locus_records_total", Help: "Records received over HTTP, by what became of them.",
		}, []string{"outcome"}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "locus_http_request_seconds", Help: "Time to answer a request, by route and status.", Buckets: bounds,
		}, []string{"route", "status"}),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "locus_http_waiting_requests", Help: "Requests that wait to be admitted, by class.",
		}, []string{"class"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locus_http_refused_total", Help: "Requests refused because of overload, by class.",
		}, []string{"class"}),
		batches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locus_batch_operations_total", Help: "Puts and deletions committed in groups, and those of them that failed.",
		}, []string{"result"}),
		rounds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "locus_batch_round_seconds", Help: "Time of each round of a group of writes.", Buckets: bounds,
		}, []string{"round"}),
		hits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locus_hits_total", Help: "Hits received over HTTP, by what became of them: what they count, and 1 for each that was refused.",
		}, []string{"outcome"}),
		groups: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "locus_hit_group_seconds", Help: "Time of a commit of hits, by whether it succeeded.", Buckets: bounds,
		}, []string{"result"}),
		grouped: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "locus_hit_group_size", Help: "Hits that one commit carried.",
			Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000},
		}),
	}
	registry := prometheus.NewRegistry()
	m.own = []prometheus.Collector{
		newBuildInfo(), m.records, m.requests, m.waiting, m.refused, m.batches, m.rounds, m.hits, m.groups, m.grouped,
		&m.watch, &m.line, &m.rollups, &m.sinks, &m.sources,
	}
	registry.MustRegister(m.own...)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.scrape = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// newBuildInfo returns the metric with the version and the build of the process in its labels.
func newBuildInfo() prometheus.Collector {
	build := buildinfo.Read()
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "locus_build_info", Help: "Always 1; the labels say what the process was built from.",
		ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "go": build.Go},
	}, func() float64 { return 1 })
}

// bounds are the upper bounds of the histogram buckets in seconds, from half a millisecond, a read from memory, to
// beyond the request timeout of 10 s.
var bounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// ServeHTTP serves a scrape in the format that the client requests; the default is the Prometheus text format.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.scrape.ServeHTTP(w, r) }

// Watch sets the function that returns the state of the installation.
func (m *Metrics) Watch(status StatusFunc) { m.watch.status.Store(&status) }

// Records counts records by outcome, one of a fixed list.
func (m *Metrics) Records(outcome string, n int) { m.records.WithLabelValues(outcome).Add(float64(n)) }

// Request measures an answered request. The route is the pattern that matched, never the path.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Waiting adjusts the number of requests waiting for admission: +1 when one begins to wait, -1 when it ends.
func (m *Metrics) Waiting(class string, delta int) {
	m.waiting.WithLabelValues(class).Add(float64(delta))
}

// Refused counts a request refused because of overload.
func (m *Metrics) Refused(class string) { m.refused.WithLabelValues(class).Inc() }

// Batch measures a group of writes. Use it as locus.Options.OnBatch.
func (m *Metrics) Batch(b resolve.Batched) {
	m.batches.WithLabelValues("done").Add(float64(b.Ops - b.Failed))
	m.batches.WithLabelValues("failed").Add(float64(b.Failed))
	m.rounds.WithLabelValues("put").Observe(b.Put.Seconds())
	m.rounds.WithLabelValues("post").Observe(b.Post.Seconds())
	m.rounds.WithLabelValues("resolve").Observe(b.Resolve.Seconds())
}

// Hits counts hits by outcome, one of a fixed list.
func (m *Metrics) Hits(outcome string, n int64) { m.hits.WithLabelValues(outcome).Add(float64(n)) }

// HitGroup measures a commit of hits. Use it as OnGroup of the counter options.
func (m *Metrics) HitGroup(g counter.Group) {
	result := "done"
	if g.Err != nil {
		result = "failed"
	}
	m.groups.WithLabelValues(result).Observe(g.Took.Seconds())
	m.grouped.Observe(float64(g.Hits))
}
