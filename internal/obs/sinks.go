// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locus-db/locus/sink"
)

// SinksFunc returns the deliveries of this process, by the name of the sink. It is called at each scrape.
type SinksFunc func() map[string]sink.Stats

// WatchSinks sets the function that returns the sinks that the process delivers to.
func (m *Metrics) WatchSinks(ask SinksFunc) { m.sinks.ask.Store(&ask) }

// sinkMetrics collects the state of sinks at a scrape. Lag and dead letters are reported by the process that delivers,
// or cannot because the target is away, so that they are not counted twice.
type sinkMetrics struct{ ask atomic.Pointer[SinksFunc] }

var (
	eachSink = []figure[sink.Stats]{
		{
			prometheus.NewDesc("locus_sink_events_total", "Events of a sink that the target has accepted from this process.",
				[]string{"sink"}, nil),
			prometheus.CounterValue, func(s sink.Stats) float64 { return float64(s.Delivered) },
		},
		{
			prometheus.NewDesc("locus_sink_errors_total",
				"Attempts of this process to deliver to a sink that failed, and events that were rejected.", []string{"sink"}, nil),
			prometheus.CounterValue, func(s sink.Stats) float64 { return float64(s.Failed) },
		},
	}
	ownSink = []figure[sink.Stats]{
		gauge("locus_sink_lag_seconds", "For how long the oldest change has waited that a sink has not delivered.",
			func(s sink.Stats) float64 { return s.Lag.Seconds() }, "sink"),
		gauge("locus_sink_dead", "Events of a sink that became dead letters.",
			func(s sink.Stats) float64 { return float64(s.Dead) }, "sink"),
	}
)

// Describe implements prometheus.Collector.
func (m *sinkMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, f := range append(eachSink, ownSink...) {
		to <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (m *sinkMetrics) Collect(to chan<- prometheus.Metric) {
	ask := m.ask.Load()
	if ask == nil {
		return
	}
	for name, s := range (*ask)() {
		for _, f := range eachSink {
			f.send(to, s, name)
		}
		if !s.Running && s.Lag == 0 {
			continue
		}
		for _, f := range ownSink {
			f.send(to, s, name)
		}
	}
}
