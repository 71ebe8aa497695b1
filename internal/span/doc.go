// SPDX-License-Identifier: Apache-2.0

// Package span lets libraries report their work, and for which request they do it, to a recorder of traces that they do
// not import:
//
//	internal/httpapi, sinks, sources ─► Tracer.Root ─┐
//	context ──► resolve, backends ────► Start ───────┼─► Recording: internal/obs, by OpenTelemetry
//	        └─► sink/webhook ─────────► Header ──────┘
//
// The current span is in the context, so that work without one, such as polling for changes, makes no spans. A request
// that is not sampled has none either. Then Start returns the context that it was given, and nothing is allocated.
package span
