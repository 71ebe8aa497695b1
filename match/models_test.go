// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

// TestProducts compares products as catalogues write their numbers and brands.
func TestProducts(t *testing.T) {
	t.Parallel()
	m := match.New(match.Product(), nil)
	product := func(title, brand, model string) match.Attributes {
		return match.Attributes{"title": {title}, "brand": {brand}, "model": {model}}
	}
	for _, c := range []struct {
		a, b match.Attributes
		same bool
	}{
		{product("Oil filter 0 986 479 098 Bosch", "", ""), product("Oil filter", "Bosch", "0986479098"), true},
		{product("Spark plug F 011 789 673", "Bosch", ""), product("Bosch Spark plug F011789673", "Bosch", ""), true},
		{product("Contactor 0027920889", "Siemens", ""), product("Contactor 27920889", "Siemens", ""), true},
		{product("Oil filter 67412RS", "Parker", ""), product("Parker Oil filter 1019738995", "Parker", ""), false},
		{product("Brake pad set", "Siemens", "F010558291"), product("Brake pad set 0009163782 Siemens", "Siemens", ""), false},
		{product("Butter Gloss Kenzira", "MAC", ""), product("Butter Gloss Kenzira", "NYX", ""), false},
		{product("Butter Gloss Kenzira", "L'Oréal", ""), product("Butter Gloss Kenzira", "L'Oréal Paris", ""), true},
		{product("Laser toner Kenzira", "HP", ""), product("Laser toner Kenzira", "Hewlett-Packard", ""), true},
	} {
		a, b := m.Normalise("s", "1", c.a), m.Normalise("s", "2", c.b)
		if got := m.Decide(m.Compare(a, b)) == match.Same; got != c.same {
			t.Errorf("%v and %v: same: %v\n%+v", c.a, c.b, got, m.Explain(a, b, m.Compare(a, b)).Lines)
		}
		if c.same {
			wantShared(t, a, b)
		}
	}
}
