// SPDX-License-Identifier: Apache-2.0

// Package cells keeps and changes the databases that an installation lives in: their status, growth by a generation of
// cells, moves, compaction, and the removal of what was erased from their files. Package cell says how each works.
//
// Use it through DB.Cells of package locus.
package cells
