// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":                       "",
		"+1 (415) 555-2300":      "+9 (999) 999-9999",
		"415-555-2300":           "999-999-9999",
		"SW1A 1AA":               "A9A 9A",
		"Joe's  Pizza":           "Aa'a Aa",
		"ÉCOLE école École":      "A a Aa",
		"info@pizza.example":     "a@a.a",
		"東京":                     "a",
		strings.Repeat("1", 40):  strings.Repeat("9", 40),
		strings.Repeat("1", 41):  strings.Repeat("9", 40) + "…",
		" \t x":                  " a",
		strings.Repeat("x ", 30): strings.Repeat("a ", 20) + "…",
	} {
		if got := shapeOf(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
