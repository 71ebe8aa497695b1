// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locus-db/locus/source"
)

// SourcesFunc returns what this process has read, by the name of the source. It is called at each scrape.
type SourcesFunc func() map[string]source.Stats

// WatchSources sets the function that returns the sources that the process reads.
func (m *Metrics) WatchSources(ask SourcesFunc) { m.sources.ask.Store(&ask) }

// sourceMetrics collects the state of sources at a scrape. Lag and dead letters are reported by the process that reads
// the source, so that they are not counted twice.
type sourceMetrics struct{ ask atomic.Pointer[SourcesFunc] }

var (
	sourceRecords = figure[source.Stats]{
		prometheus.NewDesc("locus_source_records_total",
			"Records that this process has put or deleted for the messages of a stream.", []string{"source"}, nil),
		prometheus.CounterValue, func(s source.Stats) float64 { return float64(s.Records) },
	}
	sourceFailing = gauge("locus_source_failing", "1 if this process tries to read a stream and cannot.", func(s source.Stats) float64 {
		if s.Trouble != "" {
			return 1
		}
		return 0
	}, "source")
	ownSource = []figure[source.Stats]{
		gauge("locus_source_lag_messages", "Messages of a stream that are not read yet, as of a few seconds ago.",
			func(s source.Stats) float64 { return float64(s.Lag) }, "source"),
		gauge("locus_source_dead", "Messages of a stream that became dead letters.",
			func(s source.Stats) float64 { return float64(s.Dead) }, "source"),
	}
)

// Describe implements prometheus.Collector.
func (m *sourceMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- sourceRecords.desc
	to <- sourceFailing.desc
	for _, f := range ownSource {
		to <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (m *sourceMetrics) Collect(to chan<- prometheus.Metric) {
	ask := m.ask.Load()
	if ask == nil {
		return
	}
	for name, s := range (*ask)() {
		sourceRecords.send(to, s, name)
		sourceFailing.send(to, s, name)
		if !s.Running {
			continue
		}
		for _, f := range ownSource {
			f.send(to, s, name)
		}
	}
}
