// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/access"
)

func TestGiven(t *testing.T) {
	t.Parallel()
	g, err := access.ParseGiven([]string{"reader", "hide:ssn", "kind:person", "reviewer", "source:vendor-*", "kind:place",
		"reader", "hide:ssn"})
	want := access.Given{
		Roles: []string{"reader", "reviewer"}, Sources: access.Sources{"vendor-*"},
		Restriction: access.Restriction{Kinds: []string{"person", "place"}, Hide: []string{"ssn"}},
	}
	if diff := cmp.Diff(want, g); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if who := g.Principal(); !who.May(access.Decide) || who.May(access.Write) || who.Writes("crm") || !who.Restriction.Hides("ssn") || who.Restriction.Sees("company") {
		t.Errorf("%+v", who)
	}
	if g, err := access.ParseGiven(nil); err != nil || g.Principal().Permissions != 0 || g.Principal().Restriction.Narrow() {
		t.Errorf("%+v %v", g, err)
	}
	for _, wrong := range []string{"admin", "", "kind:", "hide:", "source:", "kind:A", "hide:a b", "source:a*b", "attribute:ssn", "Kind:place", ":"} {
		if g, err := access.ParseGiven([]string{"reader", wrong}); err == nil || g.Roles != nil || g.Restriction.Narrow() {
			t.Errorf("%q: %+v", wrong, g)
		}
	}
}
