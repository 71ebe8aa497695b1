// SPDX-License-Identifier: Apache-2.0

package document

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Everything with a prefix is in the range from the prefix to Beyond.
func TestBeyond(t *testing.T) {
	t.Parallel()
	some := rapid.StringOfN(rapid.SampledFrom([]rune{0, 'a', 'b'}), 0, 3, -1)
	drawBytes := rapid.Custom(func(t *rapid.T) string {
		return strings.ReplaceAll(some.Draw(t, "bytes"), "b", "\xff")
	})
	rapid.Check(t, func(t *rapid.T) {
		prefix, s := drawBytes.Draw(t, "prefix"), drawBytes.Draw(t, "s")
		next, ok := Beyond(prefix)
		if got, want := s >= prefix && (!ok || s < next), strings.HasPrefix(s, prefix); got != want {
			t.Fatalf("%q is from %q to %q, %v: %v, want %v", s, prefix, next, ok, got, want)
		}
		if b, there := Beyond([]byte(prefix)); string(b) != next || there != ok {
			t.Fatalf("%q, %v is beyond the bytes %q, want %q, %v", b, there, prefix, next, ok)
		}
	})
}
