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
		{"ann", "anne", true}, {"ann", "ahn", true}, {"ann", "dan", false}, {"ann", "dann", false}, {"liverpool", "liverpol", true}, {"liverpool", "london", false},
	} {
		if likeWord(c.a, c.b) != c.want || likeWord(c.b, c.a) != c.want {
			t.Errorf("%q and %q are alike: %v, want %v", c.a, c.b, !c.want, c.want)
		}
	}
}
