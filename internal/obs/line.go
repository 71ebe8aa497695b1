// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// lineMetrics describe over which line the server is reached, and whether it can record who did what.
type lineMetrics struct {
	until    atomic.Pointer[func() time.Time]
	insecure atomic.Bool
	audit    atomic.Pointer[func() int64]
	backup   atomic.Pointer[BackupFunc]
}

var (
	tlsExpires = prometheus.NewDesc("locus_tls_expires_seconds", "Seconds until the certificate in use ends.", nil, nil)
	backupAge  = prometheus.NewDesc("locus_backup_age_seconds",
		"Seconds since the moment that the last backup is of. It is left out if none is known.", nil, nil)
	auditFailures = prometheus.NewDesc("locus_audit_failures_total",
		"How often the audit log, or its copy in a file, could not be written.", nil, nil)
	insecure = prometheus.NewDesc("locus_insecure",
		"1 if the network can use the server without tokens (--insecure-listen).", nil, nil)
)

// WatchCertificate sets the function that returns the end of the certificate in use.
func (m *Metrics) WatchCertificate(until func() time.Time) { m.line.until.Store(&until) }

// Insecure says that the network can use the server without tokens.
func (m *Metrics) Insecure() { m.line.insecure.Store(true) }

// WatchAudit sets the function that returns how often the audit log could not be written.
func (m *Metrics) WatchAudit(failures func() int64) { m.line.audit.Store(&failures) }

// BackupFunc returns when the last backup was made, the zero time if none is known. It is called at each scrape.
type BackupFunc func(context.Context) (time.Time, error)

// WatchBackup sets the function that returns when the last backup was made.
func (m *Metrics) WatchBackup(last BackupFunc) { m.line.backup.Store(&last) }

// Describe implements prometheus.Collector.
func (l *lineMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- tlsExpires
	to <- insecure
	to <- auditFailures
	to <- backupAge
}

// Collect implements prometheus.Collector.
func (l *lineMetrics) Collect(to chan<- prometheus.Metric) {
	if until := l.until.Load(); until != nil {
		to <- prometheus.MustNewConstMetric(tlsExpires, prometheus.GaugeValue, time.Until((*until)()).Seconds())
	}
	if failures := l.audit.Load(); failures != nil {
		to <- prometheus.MustNewConstMetric(auditFailures, prometheus.CounterValue, float64((*failures)()))
	}
	if last := l.backup.Load(); last != nil {
		if at, err := (*last)(context.Background()); err == nil && !at.IsZero() {
			to <- prometheus.MustNewConstMetric(backupAge, prometheus.GaugeValue, time.Since(at).Seconds())
		}
	}
	open := 0.0
	if l.insecure.Load() {
		open = 1
	}
	to <- prometheus.MustNewConstMetric(insecure, prometheus.GaugeValue, open)
}
