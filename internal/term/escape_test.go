// SPDX-License-Identifier: Apache-2.0

package term_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/term"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "Joe's Pizza", "Joe's Pizza"},
		{"accents and wide characters", "Café 寿司 ﷽", "Café 寿司 ﷽"},
		{"line ends and tabs", "a\tb\r\nc", `a\tb\r\nc`},
		{"colour sequence", "\x1b[31mred", `\x1b[31mred`},
		{"C1 control", "a\u009bb", `a\u009bb`},
		{"right-to-left override", "a\u202egnp", `a\u202egnp`},
		{"zero width", "a\u200bb", `a\u200bb`},
		{"tag character", "a\U000e0041", `a\U000e0041`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"not UTF-8", "a\xffb", `a\xffb`},
		{"a real replacement character", "a\ufffdb", "a\ufffdb"},
		{"DEL", "\x7f", `\x7f`},
	} {
		if got := term.Escape(c.in); got != c.want {
			t.Errorf("%s: Escape(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestEscape_NothingHiddenIsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := term.Escape(in)
		if !utf8.ValidString(got) {
			t.Fatalf("Escape(%q) = %q is not UTF-8", in, got)
		}
		// Unassigned ones (Cn) stay: they may be letters of a newer Unicode.
		hidden := func(r rune) bool {
			return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
		}
		if i := strings.IndexFunc(got, hidden); i >= 0 {
			t.Fatalf("Escape(%q) = %q keeps a hidden character at %d", in, got, i)
		}
		if again := term.Escape(got); again != got {
			t.Fatalf("Escape is not stable: %q, then %q", got, again)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"寿司寿司", 3, "寿司…"},
		{"a\nb", 3, `a\…`},
		{"", 1, ""},
	} {
		if got := term.Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
