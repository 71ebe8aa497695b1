// SPDX-License-Identifier: Apache-2.0

// Package obs turns events in Locus into metrics for Prometheus, and its work into traces for OpenTelemetry. The
// libraries do not import it: they report through their own callbacks and package span, which the process connects to
// it.
//
//	locus.Options.OnBatch ──►┐
//	counter.Options.OnGroup ►┤
//	internal/httpapi ───────►├─► Metrics ──► GET /metrics
//	Go runtime, process ────►│   (a registry of its own)
//	Cells().Status, Rollups().List   ◄── called at a scrape
//
// A process may have several Metrics: nothing is registered globally. No label value comes from records: sources, keys
// and attributes are user data, and there may be millions of them. Names of rollups are labels, because operators
// choose them.
package obs
