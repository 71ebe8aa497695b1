// SPDX-License-Identifier: Apache-2.0

package identifier_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/identifier"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	const most = 12
	for _, test := range []struct{ text, want string }{
		{"a", ""},
		{"a b", ""},
		{"$set.a/b ü", ""},
		{"a\u00a0b", ""}, // white space inside is allowed
		{"a\u3000b", ""},
		{"日本語", ""},
		{"e\u0301", ""},
		{"\ufffd", ""}, // the character itself is valid
		{strings.Repeat("x", most), ""},
		{strings.Repeat("ü", most/2), ""},

		{"", "is empty"},
		{strings.Repeat("x", most+1), "has 13 bytes, more than 12"},
		{strings.Repeat("ü", most/2+1), "has 14 bytes, more than 12"},
		{strings.Repeat("\xff", most+1), "has 13 bytes, more than 12"},
		{"a\xff", "is not valid UTF-8"},
		{"\xc3", "is not valid UTF-8"},
		{"\xed\xa0\x80", "is not valid UTF-8"}, // half of a UTF-16 surrogate pair
		{" ", "begins or ends with white space"},
		{" a", "begins or ends with white space"},
		{"a ", "begins or ends with white space"},
		{"a\n", "begins or ends with white space"},
		{"\u00a0a", "begins or ends with white space"},
		{"a\u3000", "begins or ends with white space"},
		{"a\u2028", "begins or ends with white space"},
		{"a\x00b", "holds the character U+0000, which cannot be seen"},
		{"a\tb", "holds the character U+0009, which cannot be seen"},
		{"a\x7f", "holds the character U+007F, which cannot be seen"},
		{"a\u009bb", "holds the character U+009B, which cannot be seen"},
		{"a\u00adb", "holds the character U+00AD, which cannot be seen"},
		{"a\u200bb", "holds the character U+200B, which cannot be seen"},
		{"a\u202eb", "holds the character U+202E, which cannot be seen"},
		{"\ufeffa", "holds the character U+FEFF, which cannot be seen"},
		{"a\u2028b", "holds the character U+2028, which cannot be seen"},
		{"a\u2029b", "holds the character U+2029, which cannot be seen"},
	} {
		if got := identifier.Problem(test.text, most); got != test.want {
			t.Errorf("%+q: %q, want %q", test.text, got, test.want)
		}
	}
}
