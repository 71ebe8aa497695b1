// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"testing"
)

func TestParseEmails(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"Ada@Example.org": {"ada@example.org"}, " mailto:ada@example.org ": {"ada@example.org"},
		"ada@example.org; a.l@example.com": {"ada@example.org", "a.l@example.com"},
		"ada@example.org,a.l@example.com":  {"ada@example.org", "a.l@example.com"},
		"Ada Lovelace <ada@example.org>":   {"ada@example.org"},
		"ada@example.org\na.l@example.com": {"ada@example.org", "a.l@example.com"},
		"ada@example.org or none":          nil,
		"ada b@example.org":                nil, "\"ada b\"@example.org": nil,
		"ada at example.org": nil, "ada@example": nil, "@example.org": nil, "n/a": nil, "": nil,
	} {
		if got := parseEmails(raw); !slices.Equal(got, want) {
			t.Errorf("%q is %q; want %q", raw, got, want)
		}
	}
}
