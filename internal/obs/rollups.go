// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locus-db/locus/rollups"
)

// RollupsFunc returns all rollups, and how many changes this process has applied to them. It is called at each scrape,
// like StatusFunc.
type RollupsFunc func(context.Context) (all []rollups.Status, applied int64, err error)

// WatchRollups sets the function that returns the rollups of the installation.
func (m *Metrics) WatchRollups(ask RollupsFunc) { m.rollups.ask.Store(&ask) }

// maxRollups is how many rollups a scrape reports, the first by name, to limit the number of labels.
const maxRollups = 200

// rollupMetrics collects the state of rollups at a scrape. Their names can be labels because operators choose them and
// they are few.
type rollupMetrics struct{ ask atomic.Pointer[RollupsFunc] }

var (
	eachRollup = []figure[rollups.Status]{
		gauge("locus_rollup_lag_seconds", "For how long the oldest change has waited that a rollup does not contain.",
			func(r rollups.Status) float64 { return r.Lag.Seconds() }, "rollup"),
		gauge("locus_rollup_groups", "Groups of a rollup, in all cells.",
			func(r rollups.Status) float64 { return float64(r.Groups) }, "rollup"),
		gauge("locus_rollup_failed", "1 if a rollup cannot go on in some cell.", func(r rollups.Status) float64 {
			if r.State == rollups.Failed {
				return 1
			}
			return 0
		}, "rollup"),
	}
	applied = total("locus_rollup_applied_changes_total", "Changes that this process has counted in rollups since it started.", func(n int64) float64 { return float64(n) })
)

// Describe implements prometheus.Collector.
func (r *rollupMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- applied.desc
	for _, f := range eachRollup {
		to <- f.desc
	}
}

// Collect implements prometheus.Collector. Unknown figures are left out.
func (r *rollupMetrics) Collect(to chan<- prometheus.Metric) {
	ask := r.ask.Load()
	if ask == nil {
		return
	}
	all, n, err := (*ask)(context.Background())
	applied.send(to, n)
	if err != nil {
		return
	}
	for _, one := range all[:min(len(all), maxRollups)] {
		if one.State == rollups.Partial { // a cell is unreachable
			continue
		}
		for _, f := range eachRollup {
			f.send(to, one, one.Name)
		}
	}
}
