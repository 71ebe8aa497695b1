// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"fmt"
	"testing"
)

// A single column is put together from parts if the same parts stand first and later.
func TestSuggest_TitlesOfParts(t *testing.T) {
	t.Parallel()
	institute := func(i int) string { return fmt.Sprintf("Institute %c%c", 'a'+i%26, 'a'+i/26) }
	for name, c := range map[string]struct {
		value func(i int) string
		want  bool
	}{
		"affiliations": {func(i int) string {
			if i%3 == 0 {
				return fmt.Sprintf("%s, Dept. %d, Country %d", institute(i/4), i%7, i%5)
			}
			return fmt.Sprintf("Dept. %d, %s, Country %d", i%7, institute(i/4), i%5)
		}, true},
		"products, the brand first and the colour last": {func(i int) string {
			return fmt.Sprintf("Brand %d, %s, Colour %d", i%7, institute(i/4), i%30)
		}, false},
		"titles without parts": {institute, false},
		"few values":           {func(i int) string { return fmt.Sprintf("Part %d, Part %d", i%3, i%4) }, false},
	} {
		var rows []string
		for i := range 200 {
			rows = append(rows, fmt.Sprintf("%d|%s", i, c.value(i)))
		}
		lines, d := suggested(t, "id|affiliation", rows...)
		if got := d.Schema.Weights != nil; got != c.want {
			t.Errorf("%s: weights %v, want %v: %q", name, got, c.want, lines)
		}
	}
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("%d|Dept. %d, %s|%d", i, i%7, institute(i/4), 1950+i%40), fmt.Sprintf("x%d|%s, Dept. %d|%d", i, institute(i/4), i%7, 1950+i%40))
	}
	if _, d := suggested(t, "id|affiliation|founded", rows...); d.Schema.Weights != nil {
		t.Error("with another column that is compared")
	}
}
