// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// lineMetrics say over which line the server is reached.
type lineMetrics struct {
	until    atomic.Pointer[func() time.Time]
	insecure atomic.Bool
}

var (
	tlsExpires = prometheus.NewDesc("locus_tls_expires_seconds", "Seconds until the certificate in use ends.", nil, nil)
	insecure   = prometheus.NewDesc("locus_insecure", "1 if the network can use the server without tokens (--insecure-listen).", nil, nil)
)

// WatchCertificate sets the function that returns the end of the certificate in use.
func (m *Metrics) WatchCertificate(until func() time.Time) { m.line.until.Store(&until) }

// Insecure says that the network can use the server without tokens.
func (m *Metrics) Insecure() { m.line.insecure.Store(true) }

// Describe implements prometheus.Collector.
func (l *lineMetrics) Describe(to chan<- *prometheus.Desc) { to <- tlsExpires; to <- insecure }

// Collect implements prometheus.Collector.
func (l *lineMetrics) Collect(to chan<- prometheus.Metric) {
	if until := l.until.Load(); until != nil {
		to <- prometheus.MustNewConstMetric(tlsExpires, prometheus.GaugeValue, time.Until((*until)()).Seconds())
	}
	open := 0.0
	if l.insecure.Load() {
		open = 1
	}
	to <- prometheus.MustNewConstMetric(insecure, prometheus.GaugeValue, open)
}
