// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
)

// StatusFunc returns the state of the installation. It is called at each scrape with a context that does not end, so it
// must limit its own time.
type StatusFunc func(context.Context) (*cells.Status, error)

// watch collects the state of the stores at a scrape. If they are unavailable, it reports only locus_ready 0, because
// older figures would pass for current ones. For an unreachable cell it reports only locus_cell_up 0 and leaves out
// sums over all cells: a partial sum would be wrong, and a counter would decrease.
type watch struct{ status atomic.Pointer[StatusFunc] }

// ready is 1 if the installation can serve.
var ready = prometheus.NewDesc("locus_ready", "1 if the installation can serve.", nil, nil)

// totals are the figures of this process, sums of all cells together, cells of each cell.
var (
	totals = []figure[*cells.Status]{
		gauge("locus_cell_map_epoch", "Version of the cell map.", func(s *cells.Status) float64 { return float64(s.Epoch) }),
		gauge("locus_write_queue_records", "Records that wait to be written.", func(s *cells.Status) float64 {
			return float64(s.Queue)
		}),
	}
	sums = []figure[*cells.Status]{
		gauge("locus_records", "Live records.", func(s *cells.Status) float64 { return float64(s.Counts.Records) }),
		gauge("locus_entities", "Entities.", func(s *cells.Status) float64 { return float64(s.Counts.Entities) }),
		total("locus_merges_total", "Entities merged since the beginning.", func(s *cells.Status) float64 {
			return float64(s.Counts.Merges)
		}),
		total("locus_splits_total", "Entities split since the beginning.", func(s *cells.Status) float64 {
			return float64(s.Counts.Splits)
		}),
	}
	up = gauge("locus_cell_up", "1 if a cell answers. Of one that does not, nothing else is known.", func(c cells.CellStatus) float64 {
		if c.Down {
			return 0
		}
		return 1
	}, "cell")
	cellFigures = []figure[cells.CellStatus]{
		gauge("locus_redo_depth", "Records that are stored and not resolved yet.", func(c cells.CellStatus) float64 { return float64(c.Redo) }, "cell"),
		gauge("locus_cell_records", "Live records of a cell.", func(c cells.CellStatus) float64 { return float64(c.Counts.Records) }, "cell"),
		gauge("locus_cell_bytes", "Size of a cell's files.", func(c cells.CellStatus) float64 { return float64(c.Bytes) }, "cell"),
		gauge("locus_cell_wal_bytes", "Size of a cell's write-ahead log, of cells in files.", func(c cells.CellStatus) float64 { return float64(c.WAL) }, "cell"),
		gauge("locus_cell_puids_used", "Puids that a cell has allocated.",
			func(c cells.CellStatus) float64 { return float64(c.PUIDs) }, "cell"),
		gauge("locus_cell_puids_room", "Puids that a cell has in all.",
			func(c cells.CellStatus) float64 { return float64(c.PUIDRoom) }, "cell"),
	}
)

// pools are the connections of this process to each database server.
var pools = []figure[cell.Pool]{
	gauge("locus_connections", "Connections of this process to a database server that are in use.",
		func(p cell.Pool) float64 { return float64(p.Open - p.Idle) }, "server"),
	gauge("locus_connections_budget", "Connections that this process may have to a database server (--connections).",
		func(p cell.Pool) float64 { return float64(p.Budget) }, "server"),
	gauge("locus_connections_waiting", "Transactions that wait for a connection to a database server.",
		func(p cell.Pool) float64 { return float64(p.Waiting) }, "server"),
}

// until is when the cell map ends. It is left out if the map has no end.
var until = gauge("locus_cell_map_until_seconds", "Seconds until the cell map ends. A server moves the end on.", func(s *cells.Status) float64 {
	return time.Until(s.Until).Seconds()
})

// figure is a metric that is read from a result.
type figure[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(T) float64
}

func gauge[T any](name, help string, of func(T) float64, labels ...string) figure[T] {
	return figure[T]{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue, of}
}

func total[T any](name, help string, of func(T) float64) figure[T] {
	return figure[T]{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, of}
}

func (f figure[T]) send(to chan<- prometheus.Metric, from T, labels ...string) {
	to <- prometheus.MustNewConstMetric(f.desc, f.kind, f.of(from), labels...)
}

// Describe implements prometheus.Collector.
func (w *watch) Describe(to chan<- *prometheus.Desc) {
	to <- ready
	to <- up.desc
	to <- until.desc
	for _, f := range slices.Concat(totals, sums) {
		to <- f.desc
	}
	for _, f := range cellFigures {
		to <- f.desc
	}
	for _, f := range pools {
		to <- f.desc
	}
}

// Collect implements prometheus.Collector. It reports nothing before Watch is called.
func (w *watch) Collect(to chan<- prometheus.Metric) {
	ask := w.status.Load()
	if ask == nil {
		return
	}
	status, err := (*ask)(context.Background())
	good := 0.0
	if err == nil && status.Ready {
		good = 1
	}
	to <- prometheus.MustNewConstMetric(ready, prometheus.GaugeValue, good)
	if err != nil {
		return
	}
	if !status.Until.IsZero() {
		until.send(to, status)
	}
	for _, f := range totals {
		f.send(to, status)
	}
	if !slices.ContainsFunc(status.Cells, func(c cells.CellStatus) bool { return c.Down }) {
		for _, f := range sums {
			f.send(to, status)
		}
	}
	servers := map[string]cell.Pool{}
	for _, c := range status.Cells {
		if c.Pool.Budget > 0 && !c.Down {
			servers[c.Pool.Server] = c.Pool
		}
	}
	for server, p := range servers {
		for _, f := range pools {
			f.send(to, p, server)
		}
	}
	for _, c := range status.Cells {
		up.send(to, c, c.Cell.String())
		if c.Down {
			continue
		}
		for _, f := range cellFigures {
			f.send(to, c, c.Cell.String())
		}
	}
}
