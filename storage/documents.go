// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/rollup"
)

// Documents is a document database that an installation uses in addition to its cells; package storage/mongodb
// implements it. New metrics are counted in it.
type Documents interface {
	// Identity returns a string that distinguishes the database from all others.
	Identity() string
	// String describes the database for humans.
	String() string
	// Owner returns the id of the installation that the database belongs to, "" if it belongs to none.
	Owner(ctx context.Context) (string, error)
	// Claim assigns the database to an installation, unless it already belongs to one, and returns the id of its owner.
	// If several installations claim it at once, one of them gets it.
	Claim(ctx context.Context, installation string) (owner string, err error)
	// Metrics returns its counters.
	Metrics() counter.Cells
	// Groups returns the rollup groups that a cell keeps in documents.
	Groups(cell string) rollup.Elsewhere
	// Close releases the database.
	Close(ctx context.Context) error
}
