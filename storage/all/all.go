// SPDX-License-Identifier: Apache-2.0

// Package all registers every kind of database that cells can live in. Import it for that side effect. It is the
// only package that imports every driver.
package all

import (
	_ "github.com/locus-db/locus/storage/postgres" // postgres://HOST/NAME
	_ "github.com/locus-db/locus/storage/sqlite"   // sqlite:DIR, or just DIR
)
