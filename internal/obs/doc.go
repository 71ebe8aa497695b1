// SPDX-License-Identifier: Apache-2.0

// Package obs turns what happens in Locus into metrics. The libraries know nothing of it: they report
// through functions of their own, and whoever puts a process together connects them.
//
//	locus.Options.OnBatch ──►┐
//	internal/httpapi ───────►├─► Metrics ──► GET /metrics (text format 0.0.4)
//	Service.Status  ◄── asked at a scrape
//
// A process has as many Metrics as it likes; there is no global registry. No label takes its values from
// records: sources, keys and attributes are other people's words, and there may be millions of them.
package obs
