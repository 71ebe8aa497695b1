// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"testing"
)

func TestParseDegrees(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	for _, c := range []struct {
		raw                 string
		latitude, longitude float64
	}{
		{"41.5", 41.5, 41.5},
		{" -41.5 ", -41.5, -41.5},
		{"41.5, -78.25", 41.5, -78.25},
		{"41.5 -78.25", 41.5, -78.25},
		{"(41.5; -78.25)", 41.5, -78.25},
		{"41°30′N 78°15′W", 41.5, -78.25},
		{`41°30'00"N, 78°15'00"W`, 41.5, -78.25},
		{"78°15′W 41°30′N", 41.5, -78.25},
		{"N41°30 W78°15", 41.5, -78.25},
		{"41:30:00 N 78:15:00 W", 41.5, -78.25},
		{"POINT(-78.25 41.5)", 41.5, -78.25},
		{"SRID=4326;POINT (-78.25 41.5)", 41.5, -78.25},
		{"41°30′36″N", 41.51, none},
		{"78°15′ W", none, -78.25},
		{"33°52.5′S", -33.875, none},
		{"41 30", none, none},
		{"41,5", none, none},
		{"41,-78", none, none},
		{"41 30.5", none, none},
		{"NaN", none, none},
		{"north", none, none},
		{"41.5, -78.25, 3", none, none},
		{"", none, none},
	} {
		for role, want := range map[Role]float64{RoleLatitude: c.latitude, RoleLongitude: c.longitude} {
			got, ok := parseDegrees(c.raw, role)
			if ok == math.IsNaN(want) || ok && math.Abs(got-want) > 1e-9 {
				t.Errorf("%q, %s: %v, %v, want %v", c.raw, role, got, ok, want)
			}
		}
	}
}
