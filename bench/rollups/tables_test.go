// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/locus-db/locus/bench/internal/rounds/roundstest"
)

// The printed tables and pictures of reports: -rewrite updates the file.
func TestTables(t *testing.T) {
	t.Parallel()
	roundstest.Tables(t, tables, picture, csv)
}
