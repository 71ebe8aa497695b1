// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

func TestHelp_SaysWhatTheCommandDoesAndDividesFlags(t *testing.T) {
	t.Parallel()
	help := run(t.Context(), nil, "entity", "list", "--help").stdout
	own, where, divided := strings.Cut(help, "\nWhere the data is:\n")
	if !strings.HasPrefix(help, "List or search entities") || !divided || !strings.Contains(own, "\nFlags:\n") || !strings.Contains(own, "--typos") || !strings.Contains(where, "--url") ||
		strings.Contains(own, "--url") || strings.Contains(help, "--notice") {
		t.Errorf("help of entity list:\n%s", help)
	}
	if help := run(t.Context(), nil, "id", "--help").stdout; strings.Contains(help, "Where the data is") {
		t.Errorf("help of id, which needs no data:\n%s", help)
	}
}
