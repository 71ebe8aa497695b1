// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/access"
)

func TestCheckVariable(t *testing.T) {
	t.Parallel()
	for name, right := range map[string]bool{
		"": true, "CRM_SECRET": true, "_x1": true, strings.Repeat("A", 128): true,
		"1x": false, "A B": false, "hunter2!": false, "Ä": false, strings.Repeat("A", 129): false,
		"PGPASSWORD": false, "pgpassfile": false, "LOCUS_TOKEN": false, "locus_token_file": false,
	} {
		if err := access.CheckVariable(name); (err == nil) != right {
			t.Errorf("%q: %v", name, err)
		}
	}
}
