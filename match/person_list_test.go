// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

func TestNamesPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []string
		want   bool
	}{
		"given and family names": {[]string{"Sandra Moore", "J. Peterson", "William Phillips", "Mary-Ann Hall", "Oluwaseun Adeyemi"}, true},
		"family names first":     {[]string{"Moore, Sandra", "Nowak, Zofia", "Nguyen, Minh Anh"}, true},
		"titles":                 {[]string{"Mr Tanaka Ken", "Frau Ilse Kranz", "Dr. Zoltan Nagy"}, true},
		"patronymics":            {[]string{"Иванов Иван Петрович", "Жукова Жанна Олеговна", "Тарас Шевченко"}, true},
		"firms":                  {[]string{"Smith Consulting", "Golden Arrow Security", "Martin & Sons", "Acme Ltd", "Thomas Baker Services"}, false},
		"restaurants":            {[]string{"Joe's Pizza", "La Piazza", "Arnie Morton's of Chicago", "Cafe Bizou", "Campanile"}, false},
		"places":                 {[]string{"St. James Park", "Museum of Art", "Hotel Adlon", "Terminal 2"}, false},
		"firms named after one":  {[]string{"David Jones", "Ann Taylor", "Acme Ltd", "Gap", "Zara", "H & M"}, false},
		"unknown words":          {[]string{"Tofirox Vikion", "Xecra Kasex"}, false},
		"nothing":                {[]string{"", "n/a"}, false},
	} {
		if got := match.NamesPeople(c.values); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
