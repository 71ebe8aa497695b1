// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// gazetteers returns towns 20 km apart, each twice with points up to 4 km apart, or the shops of 30 towns with a branch
// each as far away. Every tenth is a Newton.
func gazetteers(shops bool) (records []match.Attributes) {
	for i := range 900 {
		name := fmt.Sprintf("Town%c%c", 'a'+i%26, 'a'+i/26)
		if i%10 == 0 {
			name = "Newton"
		}
		lat, lng := 45+float64(i/30)*0.2, 5+float64(i%30)*0.2
		if shops {
			lat, lng = 45+float64(i/30), 5+float64(i%30)*0.001
		}
		off := []float64{0.002, 0.01, 0.02, 0.04}[i%4]
		records = append(records, town(name, lat, lng), town(name, lat+off, lng))
	}
	return records
}

func town(name string, lat, lng float64) match.Attributes {
	return match.Attributes{"name": {name}, "latitude": {fmt.Sprintf("%.4f", lat)}, "longitude": {fmt.Sprintf("%.4f", lng)}}
}

// TestRough compares towns whose points are kilometres apart.
func TestRough(t *testing.T) {
	t.Parallel()
	towns := match.TermsOf(match.Place(), slices.Values(gazetteers(false)))
	shops := match.TermsOf(match.Place(), slices.Values(gazetteers(true)))
	address := town("Townab", 45, 5)
	address["address"] = []string{"12 High Street"}
	elsewhere := town("Townab", 45.05, 5)
	elsewhere["address"] = []string{"7 Mill Lane"}
	country := town("Townab", 45, 5)
	country["country"] = []string{"FR"}
	abroad := town("Townab", 45.05, 5)
	abroad["country"] = []string{"IT"}
	for _, c := range []struct {
		name  string
		terms *match.TermFrequencies
		a, b  match.Attributes
		want  match.Outcome
		level string // of the distance
	}{
		{"5 km", towns, town("Townab", 45, 5), town("Townab", 45.05, 5), match.Same, "under 10 km, and coordinates are rough"},
		{"2 km", towns, town("Townab", 45, 5), town("Townab", 45.02, 5), match.Same, "under 2.5 km, and coordinates are rough"},
		{"12 km", towns, town("Townab", 45, 5), town("Townab", 45.11, 5), match.Different, "over 2.5 km"},
		{"a frequent name", towns, town("Newton", 45, 5), town("Newton", 45.05, 5), match.Different, "over 2.5 km"},
		{"another town", towns, town("Townab", 45, 5), town("West Townab", 45.05, 5), match.Different, "over 2.5 km"},
		{"a qualifier", towns, town("Townab", 45, 5), town("Townab (Vaud)", 45.02, 5), match.Same, "under 2.5 km, and coordinates are rough"},
		{"two of them", towns, town("City of Townab", 45, 5), town("Townab, Vaud", 45.02, 5), match.Same, "under 2.5 km, and coordinates are rough"},
		{"two addresses", towns, address, elsewhere, match.Different, "over 2.5 km"},
		{"two countries", towns, country, abroad, match.Possible, "under 10 km, and coordinates are rough"},
		{"a town of shops", shops, town("Townab", 45, 5), town("Townab", 45.05, 5), match.Different, "over 2.5 km"},
		{"not counted", nil, town("Townab", 45, 5), town("Townab", 45.05, 5), match.Different, "over 2.5 km"},
	} {
		m := match.New(match.Place(), c.terms)
		x, y := m.Normalise("one", "1", c.a), m.Normalise("two", "2", c.b)
		e := m.Explain(x, y, m.Compare(x, y))
		level := ""
		for _, l := range e.Lines {
			if l.Attribute == "distance" {
				level = l.Level
			}
		}
		if e.Outcome != c.want || level != c.level {
			t.Errorf("%s: %v and %q, want %v and %q: %+v", c.name, e.Outcome, level, c.want, c.level, e.Lines)
		}
		if c.want == match.Same && !slices.ContainsFunc(x.BlockingKeys(), func(k match.BlockingKey) bool { return slices.Contains(y.BlockingKeys(), k) }) {
			t.Errorf("%s: no common blocking key", c.name)
		}
	}
}
