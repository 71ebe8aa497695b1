// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Offsets are read as they were added, beyond 4 GiB and beyond rows that are larger.
func TestOffsets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		added := rapid.SliceOfN(rapid.Int64Range(0, 1<<36), 1, 50).Draw(t, "offsets")
		slices.Sort(added)
		var o offsets
		for _, at := range added {
			o.add(at)
		}
		for i, want := range added {
			if got := o.at(i); got != want {
				t.Fatalf("offset %d is %d, want %d", i, got, want)
			}
		}
	})
}
