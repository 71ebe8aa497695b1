// SPDX-License-Identifier: Apache-2.0

// Package backup copies the files of a data directory while it is written to, and makes a directory of them again.
//
//	cells ── a snapshot of each, all of one moment ──► pages ──► tar in zstd ──► directory ── Reincarnate ──► may be served
//
// A backup is a tar of a header, the file of each cell under its path below the directory, and a manifest with the size
// and the hash of each. Unlike a dump it keeps puids, logs, rollups and the audit log, needs no resolution when it is
// restored, and can only be restored to a directory of the same cells.
package backup
