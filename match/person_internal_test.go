// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

// Words of two letters allow no typos: one more letter makes another word. Words of three letters keep
// their first.
func TestLikeWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"al", "al", true}, {"al", "ali", false}, {"ann", "an", false}, {"jo", "joe", false}, {"", "ann", false},
		{"王", "玉", false}, {"王小", "王少", false}, {"王小明", "王小红", false}, {"كريم", "كرم", true}, {"ريم", "ريك", true}, {"ريم", "كيم", false},
		{"ann", "anne", true}, {"ann", "ahn", true}, {"ann", "dan", false}, {"ann", "dann", false}, {"liverpool", "liverpol", true}, {"liverpool", "london", false},
	} {
		if likeWord(c.a, c.b) != c.want || likeWord(c.b, c.a) != c.want {
			t.Errorf("%q and %q are alike: %v, want %v", c.a, c.b, !c.want, c.want)
		}
	}
}

// A letter of another script is one letter, whatever its bytes.
func TestSlip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"abcd", "abxd", true}, {"abcd", "abdc", true}, {"abcd", "abcd", false}, {"abcd", "abc", false}, {"abcd", "axxd", false}, {"", "", false},
		{"محمد", "محمق", true}, {"محمد", "حممد", true}, {"محمد", "مغقد", false}, {"北京大学", "北京小学", true}, {"aé", "ae", true}, {"北京", "京北", true}, {"a\xe4", "a", false},
	} {
		if slip(c.a, c.b) != c.want || slip(c.b, c.a) != c.want {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, !c.want, c.want)
		}
	}
}

func TestLastLetters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "abc": "abc", "abcdefg": "cdefg", "一二三四五六": "二三四五六", "الأحمدي": "أحمدي", "a一b二c三d": "b二c三d"} {
		if got := lastLetters(text, keyEnd); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
