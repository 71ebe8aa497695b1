// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/resolve"
)

// ContentType is that of what Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Metrics are the metrics of one process. All methods are safe for many goroutines.
type Metrics struct {
	records  numbers
	requests vector[histogram]
	waiting  numbers
	refused  numbers
	batches  numbers
	rounds   vector[histogram]
	status   atomic.Pointer[StatusFunc]
}

// StatusFunc answers with the state of the installation; it is asked at each scrape.
type StatusFunc func(context.Context) (*locus.Status, error)

// NewMetrics makes empty metrics.
func NewMetrics() *Metrics {
	return &Metrics{
		records: numbers{
			name: "locus_records_total", kind: "counter", labels: []string{"outcome"},
			help: "Records received over HTTP, by what became of them.",
		},
		requests: vector[histogram]{
			name: "locus_http_request_seconds", kind: "histogram", labels: []string{"route", "status"},
			help: "Time to answer a request, by route and status.",
		},
		waiting: numbers{
			name: "locus_http_waiting_requests", kind: "gauge", labels: []string{"class"},
			help: "Requests that wait to be admitted, by class.",
		},
		refused: numbers{
			name: "locus_http_refused_total", kind: "counter", labels: []string{"class"},
			help: "Requests refused because of overload, by class.",
		},
		batches: numbers{
			name: "locus_batch_operations_total", kind: "counter", labels: []string{"result"},
			help: "Puts and deletions committed in groups, and those of them that failed.",
		},
		rounds: vector[histogram]{
			name: "locus_batch_round_seconds", kind: "histogram", labels: []string{"round"},
			help: "Time of each round of a group of writes.",
		},
	}
}

// Records counts records by their outcome, which is one of a fixed list.
func (m *Metrics) Records(outcome string, n int) { m.records.with(outcome).Add(int64(n)) }

// Request measures an answered request. The route is the pattern that matched, never the path.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.with(route, strconv.Itoa(status)).observe(took.Seconds())
}

// Waiting counts those who wait to be admitted: +1 when one begins, -1 when it ends.
func (m *Metrics) Waiting(class string, delta int) { m.waiting.with(class).Add(int64(delta)) }

// Refused counts a refusal because of overload.
func (m *Metrics) Refused(class string) { m.refused.with(class).Add(1) }

// Batch measures a group of writes; it is the OnBatch of locus.Options.
func (m *Metrics) Batch(b resolve.Batched) {
	m.batches.with("done").Add(int64(b.Ops - b.Failed))
	m.batches.with("failed").Add(int64(b.Failed))
	m.rounds.with("put").observe(b.Put.Seconds())
	m.rounds.with("post").observe(b.Post.Seconds())
	m.rounds.with("resolve").observe(b.Resolve.Seconds())
}

// Watch says whom to ask for the state of the installation.
func (m *Metrics) Watch(status StatusFunc) { m.status.Store(&status) }

// Write writes all metrics in the text format of Prometheus, families and series in a fixed order.
// It asks for the state of the installation within ctx.
func (m *Metrics) Write(ctx context.Context, w io.Writer) error {
	var b bytes.Buffer
	writeNumbers(&b, &m.records)
	writeHistograms(&b, &m.requests)
	writeNumbers(&b, &m.waiting)
	writeNumbers(&b, &m.refused)
	writeNumbers(&b, &m.batches)
	writeHistograms(&b, &m.rounds)
	m.writeStatus(ctx, &b)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	single(&b, "locus_process_goroutines", "gauge", "Goroutines of the process.", float64(runtime.NumGoroutine()))
	single(&b, "locus_process_heap_bytes", "gauge", "Bytes of live and not yet collected objects.", float64(memory.HeapAlloc))
	_, err := b.WriteTo(w)
	return err
}

func single(w io.Writer, name, kind, help string, value float64) {
	header(w, name, help, kind)
	sample(w, name, "", value)
}

// writeStatus writes what the stores say. If they do not answer, only locus_ready is there, with 0:
// figures of an unknown age would pass for those of now.
func (m *Metrics) writeStatus(ctx context.Context, w io.Writer) {
	ask := m.status.Load()
	if ask == nil {
		return
	}
	status, err := (*ask)(ctx)
	ready := 0.0
	if err == nil && status.Ready {
		ready = 1
	}
	single(w, "locus_ready", "gauge", "1 if the installation can serve.", ready)
	if err != nil {
		return
	}
	single(w, "locus_cell_map_epoch", "gauge", "Version of the cell map.", float64(status.Epoch))
	single(w, "locus_records", "gauge", "Live records.", float64(status.Counts.Records))
	single(w, "locus_entities", "gauge", "Entities.", float64(status.Counts.Entities))
	single(w, "locus_merges_total", "counter", "Entities merged since the beginning.", float64(status.Counts.Merges))
	single(w, "locus_splits_total", "counter", "Entities split since the beginning.", float64(status.Counts.Splits))
	single(w, "locus_write_queue_records", "gauge", "Records that wait to be written.", float64(status.Queue))
	byCell := func(name, help string, value func(locus.CellStatus) float64) {
		header(w, name, help, "gauge")
		for _, c := range status.Cells {
			sample(w, name, labelled([]string{"cell"}, []string{c.Cell.String()}), value(c))
		}
	}
	byCell("locus_redo_depth", "Records whose consequences are being worked out.", func(c locus.CellStatus) float64 { return float64(c.Redo) })
	byCell("locus_cell_records", "Live records of a cell.", func(c locus.CellStatus) float64 { return float64(c.Counts.Records) })
	byCell("locus_cell_bytes", "Size of a cell's files.", func(c locus.CellStatus) float64 { return float64(c.Bytes) })
	byCell("locus_cell_puids_used", "Puids that a cell has given away.", func(c locus.CellStatus) float64 { return float64(c.PUIDs) })
}
