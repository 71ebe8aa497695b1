// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package docs_test

import "testing"

// withServers has no servers to stop.
func withServers(m *testing.M) *testing.M { return m }
