// SPDX-License-Identifier: Apache-2.0

package match

import (
	"testing"

	"pgregory.net/rapid"
)

// TestFold_TwoPathsAgree compares the tables for ASCII and European text with the path for all scripts.
func TestFold_TwoPathsAgree(t *testing.T) {
	t.Parallel()
	letter := rapid.OneOf(rapid.RuneFrom([]rune("aB1 .,'&+-’‘–“”´`éÅß½²ªÆĳǆ¨")), rapid.Custom(func(t *rapid.T) rune {
		return rapid.Int32Range(0, 0x24f).Draw(t, "rune")
	}))
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(letter, 0, 20).Draw(t, "text"))
		fast, slow := fold(s), string(appendFoldUnicode(nil, s))
		if fast != slow {
			t.Fatalf("%q is folded to %q and %q", s, fast, slow)
		}
		if again := fold(fast); again != fast {
			t.Fatalf("%q is folded to %q, and that to %q", s, fast, again)
		}
	})
}

func TestFold_AppendsBehindWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"Joe's", " & x", "é", "東京 &", "", " - "} {
		if got, want := string(appendFold([]byte("left "), s)), "left "+fold(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
