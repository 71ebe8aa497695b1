// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// permissionsOf returns the permission of every operation of the OpenAPI document, by method and path.
func permissionsOf(f *fixture) map[string]string {
	f.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Permission string `json:"x-locus-permission"`
		}
	}
	_, raw := openAPI(f)
	if err := json.Unmarshal(raw, &doc); err != nil {
		f.Fatal(err)
	}
	rules := map[string]string{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			rules[strings.ToUpper(method)+" "+path] = op.Permission
		}
	}
	return rules
}

// TestP10_EveryRouteHasARule compares the router, the OpenAPI document, and the reviewed table of permissions. Run it with
// -rewrite for a new route, and read the difference.
func TestP10_EveryRouteHasARule(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	documented, registered := permissionsOf(f), f.server.Rules()
	for operation, rule := range documented {
		pattern := operation
		for _, rest := range []string{"key", "group"} {
			pattern = strings.ReplaceAll(pattern, "{"+rest+"}", "{"+rest+"...}")
		}
		if registered[pattern] != rule || rule == "" {
			t.Errorf("%s: documented as %q, registered as %q", operation, rule, registered[pattern])
		}
	}
	var table strings.Builder
	for _, pattern := range slices.Sorted(maps.Keys(registered)) {
		fmt.Fprintf(&table, "%-52s %s\n", pattern, registered[pattern])
	}
	path := filepath.Join("testdata", "permissions.txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(table.String(), "\n")); diff != "" {
		t.Errorf("who may do what has changed: review it, then run with -rewrite (-want +got):\n%s", diff)
	}
}
