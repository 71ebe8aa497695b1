// SPDX-License-Identifier: Apache-2.0

package match

import (
	"testing"

	"github.com/golang/geo/s2"
	"pgregory.net/rapid"
)

func TestAreaToken_IsThatOfS2(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := s2.LatLngFromDegrees(rapid.Float64Range(-90, 90).Draw(t, "latitude"), rapid.Float64Range(-180, 180).Draw(t, "longitude"))
		id := s2.CellIDFromLatLng(at).Parent(rapid.IntRange(0, s2.MaxLevel).Draw(t, "level"))
		if got := areaToken(id); got != id.ToToken() {
			t.Fatalf("%s, want %s", got, id.ToToken())
		}
	})
}
