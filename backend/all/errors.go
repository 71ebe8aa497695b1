// SPDX-License-Identifier: Apache-2.0

package all

import (
	"github.com/locus-db/locus/backend/postgres"
	"github.com/locus-db/locus/backend/sqlite"
	"github.com/locus-db/locus/cell"
)

// Errors of opening, under the names that callers who know no driver can ask for.
var (
	// ErrInUse means that another process has the data directory open.
	ErrInUse = sqlite.ErrInUse
	// ErrMissing means that there is no installation, and none was to be made.
	ErrMissing = cell.ErrMissing
	// ErrIdentity means that a database is not the cell that it should be.
	ErrIdentity = cell.ErrIdentity
	// ErrStrange means that the server of the cell map was promoted or restored.
	ErrStrange = postgres.ErrStrange
	// ErrRefused means that a server refuses the role or its password.
	ErrRefused = postgres.ErrRefused
	// ErrFormat means that a newer release wrote the data.
	ErrFormat = cell.ErrFormat
	// ErrURL means that a URL does not name a database.
	ErrURL = cell.ErrURL
	// ErrPreflight means that the machine or the database cannot keep what Locus promises.
	ErrPreflight = cell.ErrPreflight
)
