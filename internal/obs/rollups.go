// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locus-db/locus/rollups"
)

// RollupsFunc answers with all rollups, and with how many changes this process has counted in them. It is
// asked at each scrape as a StatusFunc is.
type RollupsFunc func(context.Context) (all []rollups.Status, applied int64, err error)

// WatchRollups says whom to ask for the rollups of the installation.
func (m *Metrics) WatchRollups(ask RollupsFunc) { m.rollups.ask.Store(&ask) }

// maxRollups is how many are told, the first ones by name: who defines more of them watches them otherwise.
const maxRollups = 200

// rollupMetrics collects how rollups stand at the time of a scrape. Their names are labels, since they are given by
// those who run the installation, and are few.
type rollupMetrics struct{ ask atomic.Pointer[RollupsFunc] }

var (
	eachRollup = []figure[rollups.Status]{
		gauge("locus_rollup_lag_seconds", "For how long the oldest change has waited that a rollup does not contain.", func(r rollups.Status) float64 { return r.Lag.Seconds() }, "rollup"),
		gauge("locus_rollup_groups", "Groups of a rollup, in all cells.", func(r rollups.Status) float64 { return float64(r.Groups) }, "rollup"),
		gauge("locus_rollup_failed", "1 if a rollup cannot go on in some cell.", func(r rollups.Status) float64 {
			if r.State == rollups.Failed {
				return 1
			}
			return 0
		}, "rollup"),
	}
	applied = total("locus_rollup_applied_changes_total", "Changes that this process has counted in rollups since it started.", func(n int64) float64 { return float64(n) })
)

// Describe names what is collected.
func (r *rollupMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- applied.desc
	for _, f := range eachRollup {
		to <- f.desc
	}
}

// Collect asks; what is not known is left out.
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
		if one.State == rollups.Partial { // a cell does not answer
			continue
		}
		for _, f := range eachRollup {
			f.send(to, one, one.Name)
		}
	}
}
