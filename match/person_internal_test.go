// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

// A word of two letters has no slips: one more letter makes it another one. One of three keeps its first.
func TestLikeWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"al", "al", true}, {"al", "ali", false}, {"ann", "an", false}, {"jo", "joe", false}, {"", "ann", false},
		{"ann", "anne", true}, {"ann", "ahn", true}, {"ann", "dan", false}, {"ann", "dann", false}, {"liverpool", "liverpol", true}, {"liverpool", "london", false},
	} {
		if likeWord(c.a, c.b) != c.want || likeWord(c.b, c.a) != c.want {
			t.Errorf("%q and %q are alike: %v, want %v", c.a, c.b, !c.want, c.want)
		}
	}
}
