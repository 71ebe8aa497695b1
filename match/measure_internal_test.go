// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitTitle_Measures(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Olive oil 500ml":             "olive oil 500ml",
		"Olive oil 0.5 l":             "olive oil 500ml",
		"Olivenöl 0,5 l":              "olivenol 500ml",
		"Olive oil 50 cl":             "olive oil 500ml",
		"Масло 500 мл":                "maslo 500ml",
		"Cola 12 oz":                  "cola 12oz",
		"Cola 12-ounce":               "cola 12oz",
		"Cola 12 fl. oz.":             "cola 12floz",
		"Cola 12fl.oz.":               "cola 12floz",
		"Cola 6x330ml":                "cola 6pack 330ml",
		"Cola 6 x 330 ml":             "cola 6pack 330ml",
		"Cola, pack of 6":             "cola 6pack",
		"Cola 6-pack":                 "cola 6pack",
		"Drive 1TB":                   "drive 1000gb",
		"Drive 1024 GB":               "drive 1000gb",
		"Drive 1.5 TB":                "drive 1500gb",
		"Drive 512 GB":                "drive 512gb",
		"Battery 1,000 mAh":           "battery 1000mah",
		"Camera 7.2 MP":               "camera 7.2mp",
		"TV 46\" LCD":                 "tv 46in lcd",
		"Panel 46\" x 30\"":           "panel 46in x 30in",
		"TV 46” LCD":                  "tv 46in lcd",
		"Film \"Apollo 13\" DVD":      "film apollo 13 dvd",
		"Clé USB 16 Go":               "cle usb 16gb",
		"Zoom 10x 300 mm":             "zoom 10x 300mm",
		"Flour 1.5 kg":                "flour 1500g",
		"Shirt X-Large":               "shirt xl",
		"Shirt 2XL":                   "shirt xxl",
		"Versions 1,2,3 and 7,5":      "versions 1 2 3 and 7 5",
		"Rocky II":                    "rocky 2",
		"II Divo":                     "ii divo",
		"Dimensions 4":                "dimensions 4",
		"1,2,3 g":                     "1 2 3g",
		"Windows 2000 professional w": "windows 2000 professional w",
		"Suite 10.0, v7.5, V2.0.0":    "suite 10 75 2",
		"V10 and v2 in 3.0 parts":     "v10 and v2 in 3 parts",
		"Std. Colour Dlx Edn (Win)":   "standard color deluxe edition windows",
		"Organisation, isation":       "organization isation",
	} {
		if words, _ := splitTitle(raw); strings.Join(words, " ") != want {
			t.Errorf("%s: %q, want %q", raw, words, want)
		}
	}
}

func TestCompareSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want level
	}{
		{"500ml", "0.5 l", sizeEqual},
		{"500ml", "0.75 l", sizeDifferent},
		{"500ml", "750 ml", sizeDifferent},
		{"12 oz", "355 ml", sizeEqual},   // a drink
		{"12 oz", "340 g", sizeEqual},    // a mass
		{"12 oz", "12 fl oz", sizeEqual}, // a drink
		{"12 oz", "16 oz", sizeDifferent},
		{"1TB", "1000 GB", sizeEqual},
		{"1TB", "1024GB", sizeEqual},
		{"500GB", "512GB", sizeDifferent},
		{"1TB", "500GB", sizeDifferent},
		{"1TB 64MB cache", "1TB", sizeEqual},
		{"1TB 64MB cache", "500GB", levelNone}, // which one it is
		{"19 in", "48 cm", sizeEqual},
		{"19 in", "30 cm", levelNone}, // another length, perhaps
		{"19 in 42 in", "19 in", sizeEqual},
		{"2.4 GHz", "60 Hz", levelNone},
		{"6 pack", "pack of 6", sizeEqual},
		{"6 pack", "12 pack", sizeDifferent},
		{"Shirt XL", "Shirt x-large", sizeEqual},
		{"Shirt XL", "Shirt small", sizeDifferent},
		{"2.2 lb", "1 kg", sizeEqual},
		{"500 g", "1 kg", sizeDifferent},
		{"no size", "1 kg", levelNone},
	} {
		_, x := splitTitle(c.a)
		_, y := splitTitle(c.b)
		if got := compareSizes(x, y); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestCompareSizes_Laws: the order of the sides and of the measures is no evidence, and a title agrees with itself.
func TestCompareSizes_Laws(t *testing.T) {
	t.Parallel()
	unit := rapid.SampledFrom(strings.Fields("ml cl l floz oz g kg lb mb gb tb mm cm in ft w kw pack size"))
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) measure {
		return measure{float64(rapid.IntRange(0, 8).Draw(t, "value")), unit.Draw(t, "unit")}
	}), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := list.Draw(t, "a"), list.Draw(t, "b")
		got := compareSizes(a, b)
		if other := compareSizes(b, a); other != got {
			t.Fatalf("%v, %v: %d, the other way %d", a, b, got, other)
		}
		turned := slices.Clone(a)
		slices.Reverse(turned)
		if other := compareSizes(turned, b); (other == sizeDifferent) != (got == sizeDifferent) {
			t.Fatalf("%v, %v: %d, turned %d", a, b, got, other)
		}
		if compareSizes(a, a) == sizeDifferent {
			t.Fatalf("%v differs from itself", a)
		}
	})
}

// FuzzSplitTitle checks that words are folded, and that reading them again finds the same measures.
func FuzzSplitTitle(f *testing.F) {
	for _, raw := range []string{"Cola 6x330ml", "0,5 l", "46\"", "12 fl. oz.", "1,000 mAh", "X-Large", "Масло 500 мл", "9,g", "3.size", "1e9gb"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		words, measures := splitTitle(raw)
		for _, w := range words {
			if w == "" || strings.ContainsAny(w, " ,\"") {
				t.Fatalf("%q: word %q", raw, w)
			}
		}
		for _, m := range measures {
			if !slices.Contains(words, m.word()) {
				t.Fatalf("%q: %v is no word of %q", raw, m, words)
			}
			if !m.is(m) {
				t.Fatalf("%q: %v is not itself", raw, m)
			}
		}
	})
}
