// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// What two titles write differently does not tell them apart: a size in another unit, zeros before a number, and the
// first volume, also where these tell other titles of the catalogue apart.
func TestTitles_WrittenDifferently(t *testing.T) {
	t.Parallel()
	var all []match.Attributes
	add := func(title string) { all = append(all, match.Attributes{"title": {title}}) }
	for n := range 120 {
		word := fmt.Sprintf("%c%cra", 'a'+n%26, 'b'+n/26)
		for _, size := range []string{"1.7 oz", "3.4 oz", "50 ml", "100 ml"} {
			add("Vabex " + word + " Cream " + size)
		}
		for _, of := range []string{"Volume 1 7", "Volume 2 7", "Volume 3 7", "7"} {
			add("Red " + word + " Wolf " + of)
		}
	}
	m := match.New(match.Product(), match.TermsOf(match.Product(), slices.Values(all)))
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Vabex mora Cream 100 ml", "Vabex mora Cream 3.4 oz", true},
		{"Vabex mora Cream 100 ml", "Vabex mora Cream 1.7 oz", false},
		{"Red mora Wolf 7", "Red mora Wolf 007", true},
		{"Red mora Wolf Volume 1 7", "Red mora Wolf Volume 2 7", false},
		{"Red mora Wolf Volume 1 #7", "Red mora Wolf #8", false},
	} {
		x := m.Normalise("a", "1", match.Attributes{"title": {c.a}, "price": {"10"}})
		y := m.Normalise("b", "2", match.Attributes{"title": {c.b}, "price": {"10"}})
		if e := m.Explain(x, y, m.Compare(x, y)); (e.Outcome == match.Same) != c.same {
			t.Errorf("%s and %s: %+v", c.a, c.b, e)
		}
	}
}
