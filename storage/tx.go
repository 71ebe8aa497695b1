// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/rollup"
)

// Tx is one transaction of one cell: the Stores of all libraries, which commit together. A backend proves its
// conformance with storagetest.Run.
type Tx interface {
	cell.Store
	entity.Store
	changelog.Store
	lease.Store
	rollup.Store
	counter.Store
	derived.Store
	audit.Store
	// Copier reads and writes the cell as rows when it moves.
	cell.Copier
}

type (
	// Cell is the database of one cell.
	Cell = cell.Database[Tx]
	// Cells is an open installation.
	Cells = cell.Cells[Tx]
	// Driver opens the database of one cell.
	Driver = cell.Driver[Tx]
)
