// SPDX-License-Identifier: Apache-2.0

//go:build unix

package library_test

import (
	"os"
	"testing"

	"github.com/locus-db/locus/internal/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m).Run())
}
