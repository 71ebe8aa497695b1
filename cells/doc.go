// SPDX-License-Identifier: Apache-2.0

// Package cells inspects and changes the databases of an installation: their status, growth by a generation of cells,
// moves, compaction, and purging erased data from their files. Package cell describes how each works.
//
// Use it through DB.Cells of package locus.
package cells
