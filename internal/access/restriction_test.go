// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"testing"

	"github.com/locus-db/locus/internal/access"
)

func TestRestriction_Covers(t *testing.T) {
	t.Parallel()
	person, both := []string{"person"}, []string{"person", "place"}
	for _, test := range []struct {
		own, other access.Restriction
		want       bool
	}{
		{access.Restriction{}, access.Restriction{}, true},
		{access.Restriction{}, access.Restriction{Kinds: person, Hide: []string{"ssn"}}, true},
		{access.Restriction{Kinds: person}, access.Restriction{}, false},
		{access.Restriction{Kinds: person}, access.Restriction{Kinds: both}, false},
		{access.Restriction{Kinds: both}, access.Restriction{Kinds: person}, true},
		{access.Restriction{Hide: []string{"ssn"}}, access.Restriction{}, false},
		{access.Restriction{Hide: []string{"ssn"}}, access.Restriction{Hide: []string{"phones"}}, false},
		{access.Restriction{Hide: []string{"ssn"}}, access.Restriction{Hide: []string{"phones", "ssn"}}, true},
	} {
		if got := test.own.Covers(&test.other); got != test.want {
			t.Errorf("%+v covers %+v: %v", test.own, test.other, got)
		}
	}
	for _, bad := range []access.Restriction{{Kinds: []string{}}, {Hide: []string{}}, {Hide: []string{"SSN"}}, {Kinds: []string{""}}, {Hide: make([]string, 101)}} {
		if bad.Check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
