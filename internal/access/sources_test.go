// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"testing"

	"github.com/locus-db/locus/internal/access"
)

func TestSources(t *testing.T) {
	t.Parallel()
	some := access.Sources{"crm", "vendor-*"}
	for source, want := range map[string]bool{"crm": true, "crm2": false, "vendor-": true, "vendor-7": true, "vendor": false, "": false, "*": false, "vendor-*": true} {
		if some.Has(source) != want {
			t.Errorf("%q: %v", source, !want)
		}
	}
	if !access.Sources(nil).Has("any") || !(access.Sources{"*"}).Has("any") || (access.Sources{}).Has("any") {
		t.Error("nil and * mean all sources, an empty list none")
	}
	for _, bad := range []access.Sources{{}, {""}, {"a*b"}, {"**"}, make(access.Sources, access.MaxSources+1)} {
		if bad.Check() == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if err := some.Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		own, others access.Sources
		want        bool
	}{
		{nil, nil, true}, {nil, some, true}, {some, nil, false}, {some, some, true},
		{some, access.Sources{"vendor-7", "crm"}, true},
		{some, access.Sources{"vendor-1*"}, true}, {some, access.Sources{"vendor*"}, false},
		{some, access.Sources{"crm*"}, false},
		{some, access.Sources{"shop"}, false}, {access.Sources{"*"}, some, true}, {some, access.Sources{}, true},
	} {
		if c.own.Cover(c.others) != c.want {
			t.Errorf("%v covers %v: %v", c.own, c.others, !c.want)
		}
	}
}
