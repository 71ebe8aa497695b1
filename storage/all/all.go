// SPDX-License-Identifier: Apache-2.0

// Package all registers every kind of database that cells can live in. Import it for that side effect. It is the
// only package that imports every driver.
package all

import (
	"github.com/locus-db/locus/storage/postgres" // postgres://HOST/NAME
	"github.com/locus-db/locus/storage/sqlite"   // sqlite:DIR, or just DIR
)

// Formats returns the newest format of cells that this program writes, by the kind of database.
func Formats() map[string]int {
	return map[string]int{"sqlite": sqlite.Format, "postgresql": postgres.Format}
}
