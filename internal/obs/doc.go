// SPDX-License-Identifier: Apache-2.0

// Package obs turns what happens in Locus into metrics. The libraries know nothing of it: they report
// through functions of their own, and whoever puts a process together connects them.
//
//	locus.Options.OnBatch ──►┐
//	counter.Options.OnGroup ►┤
//	internal/httpapi ───────►├─► Metrics ──► GET /metrics
//	Go runtime, process ────►│   (a registry of its own)
//	Service.Status, Service.Rollups  ◄── asked at a scrape
//
// A process has as many Metrics as it likes: nothing is registered globally. No label takes its values
// from records: sources, keys and attributes are other people's words, and there may be millions of them.
// Rollups have their names from those who run the installation.
package obs
