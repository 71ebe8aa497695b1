// SPDX-License-Identifier: Apache-2.0

// Package documents keeps the groups of rollups in a database where only the write of a single document is atomic. Its
// [Groups] is a rollup.Elsewhere for any rollup.Database; storage/mongodb has a [Store].
//
//	the cell: log ───────┬─────────┬───────────────► the generation's watermark W
//	                     │ changes │ after w               ▲ then
//	read the document ──►│ after w ├──► write it, if its watermark is still w
//	{key, body, w}       └─────────┘    {key, body, end of the batch}
//
// Each document is one group and has its own watermark w. It contains the changes of its group up to w.
// [Groups.Advance] reads the documents that the changes of a batch touch, adds to each the changes after its w, and
// writes it only if w is unchanged. After all of them are written, a transaction of the cell advances W:
//
//	killed between two     the next batch adds to each document the changes that it lacks
//	doubled, or late       finds another w and writes nothing: so every group that is touched is written,
//	                       and a document stays when its group is empty
//	late with a build      writes into a Namespace of its own, which no reader reads
//
// # Guarantees
//
// No document ever contains a change twice, and none that is behind W lacks one. Readers add the changes after w: see
// package rollup.
package documents
