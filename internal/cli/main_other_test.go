// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package cli_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
