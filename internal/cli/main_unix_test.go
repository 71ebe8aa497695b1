// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/internal/pgtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(mongotest.Main(pgtest.Main(m)))
}
