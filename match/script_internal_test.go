// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRomanise(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Чайковский":           "chaikovsky",
		"Дмитрий Сергеевич":    "dmitry sergeevich",
		"Объявление":           "obyavlenie",
		"България":             "balgariya",
		"Київ":                 "kyiv",
		"Жорж Ћосић":           "zorz cosic",
		"Γεώργιος":             "georgios",
		"Μπακογιάννη Ευαγγ.":   "bakogianni evang",
		"Ευαγγελία":            "evangelia",
		"Αυτοκίνητο Αύριο":     "aftokinito avrio",
		"Ντίνα Γκίκα":          "dina gika",
		"Ελευθέριος Βενιζέλος": "eleftherios venizelos",
		"ООО ИКЕА 24":          "ooo ikea 24",
		"東京タワー":                "",
		"Müller":               "",
		"ь":                    "",
	} {
		folded := fold(raw)
		got, changed := romanise(folded)
		if want == "" {
			want = folded
		}
		if got != want || changed != (got != folded) {
			t.Errorf("%s: %q, %v; want %q", raw, got, changed, want)
		}
	}
}

// FuzzRomanise checks that the result is valid, folded and not empty, and contains no letter to romanise.
func FuzzRomanise(f *testing.F) {
	for _, raw := range []string{"Чайковский", "Μπακογιάννη Ευ", "ъъ ь", "ӂ 東京 ии", "αυ", "γγ"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		folded := fold(strings.ToValidUTF8(raw, ""))
		got, changed := romanise(folded)
		if !utf8.ValidString(got) || (got == "") != (folded == "") || !changed && got != folded {
			t.Fatalf("%q: %q", folded, got)
		}
		if got != strings.Join(strings.Fields(got), " ") {
			t.Fatalf("%q: %q has other spaces", folded, got)
		}
		for r := range cyrillic {
			if changed && strings.ContainsRune(got, r) {
				t.Fatalf("%q: %q keeps %c", folded, got, r)
			}
		}
	})
}
