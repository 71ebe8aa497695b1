// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

func TestCutLead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, lead, title string }{
		{"Ep. 7 - The Long Way", "7", "The Long Way"},
		{"EP 07: The Long Way", "7", "The Long Way"},
		{"Ep7: The Long Way", "7", "The Long Way"},
		{"Episode 7 The Long Way", "7", "The Long Way"},
		{"Episode #112 | Live", "112", "Live"},
		{"#7: The Long Way", "7", "The Long Way"},
		{"#7 – The Long Way", "7", "The Long Way"},
		{"Folge 7: Ein Tag", "7", "Ein Tag"},
		{"S02E07 - Fire", "2x7", "Fire"},
		{"S2E7 Fire", "2x7", "Fire"},
		{"No. 7 - Spring", "7", "Spring"},
		{"07. Fire", "7", "Fire"},
		{"007-Fire", "7", "Fire"},
		{"03 - Fire", "3", "Fire"},
		{"03_Fire", "3", "Fire"},
		{"007 Fire", "", "007 Fire"},
		{"99-Fire", "", "99-Fire"},
		{"00-7", "", "00-7"},
		{"1. FC Köln", "1", "FC Köln"},
		{"No 7 Spring", "", "No 7 Spring"},
		{"#1 Dad Mug", "", "#1 Dad Mug"},
		{"7 Seconds", "", "7 Seconds"},
		{"500 Days of Summer", "", "500 Days of Summer"},
		{"Episode 7", "", "Episode 7"},
		{"Episode IV - A New Hope", "", "Episode IV - A New Hope"},
		{"Part 2 - Dune", "", "Part 2 - Dune"},
		{"Vol. 2: Dune", "", "Vol. 2: Dune"},
		{"7: 8", "", "7: 8"},
		{"SX110: Camera", "", "SX110: Camera"},
		{"Dune", "", "Dune"},
		{"", "", ""},
		{"Ep.", "", "Ep."},
	} {
		if lead, title := cutLead(c.raw); lead != c.lead || title != c.title {
			t.Errorf("%q: %q and %q, want %q and %q", c.raw, lead, title, c.lead, c.title)
		}
	}
}
