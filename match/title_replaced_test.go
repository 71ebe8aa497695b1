// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// One word in the place of another names another variant, however common both are, unless it is the same in other letters.
func TestTitle_OneWordForAnother(t *testing.T) {
	t.Parallel()
	s := kindOf(t, shows)
	var all []match.Attributes
	for n := range 600 {
		all = append(all, show(fmt.Sprintf("Halden %c%c%c Lotion %s", 'a'+n%26, 'b'+n/26, 'c'+n%7, []string{"Intense", "Sport", "Fresh", "Season", "Series"}[n%5]), "", ""))
	}
	m := match.New(s, match.CountTerms(s, slices.Values(all)))
	for _, c := range []struct{ a, b, want string }{
		{"Halden Quill Lotion Intense", "Halden Quill Lotion Sport", "both keep words of their own"},
		{"Halden Quill Lotion Intense", "Lotion Halden Quill Fresh", "both keep words of their own"},
		{"Halden Quill Lotion Intense", "Halden Quill Lotion", "one keeps a word"},
		{"Halden Quill Lotion Intense", "Halden Quill Lotion Sport Fresh", "one keeps a word"},
		{"Halden Quill Lotion Intense", "Halden Quill Lotion Intnse", "nothing is left over"},
		{"Halden Quill Lotion Intense", "Halden Quill Lotion Int", "one keeps a word"},
		{"Halden Quill Season 2", "Halden Quill Series 2", "one keeps a word"},
	} {
		if l, _ := lineOf(m, show(c.a, "", ""), show(c.b, "", ""), "title residual"); l.Level != c.want {
			t.Errorf("%s, %s: %q, want %q", c.a, c.b, l.Level, c.want)
		}
	}
}

// Lengths of two sides are no model number, and other ones are of another thing.
func TestTitle_DimensionsAreNoModelNumbers(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, shows), nil)
	for _, c := range []struct{ a, b, want string }{
		{"Hose oil M16x84", "Gasket hex M16x84", "both keep words of their own"},
		{"Bolt hex M16x84 zinc", "Bolt hex M16x90 zinc", "numbers differ"},
		{"Vieson monitor 1920x1080", "Vieson display 1920x1080", "both keep words of their own"},
		{"Vieson monitor X16Z84", "Vieson display X16Z84", "rare model numbers agree"},
	} {
		if l, _ := lineOf(m, show(c.a, "", ""), show(c.b, "", ""), "title residual"); l.Level != c.want {
			t.Errorf("%s, %s: %q, want %q", c.a, c.b, l.Level, c.want)
		}
	}
}
