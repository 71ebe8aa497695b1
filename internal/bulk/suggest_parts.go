// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

const (
	// fewParts is the number of recurring parts below which nothing shows where they stand.
	fewParts = 20
	// placedShare is the share of the recurring parts, as one in so many, that are the first of one value and a later one of
	// another, from which the parts of a column stand in any place.
	placedShare = 20
)

// partsWeights are the weights of titles that are put together from parts, such as an institute, its university and the
// town, or the authors, the title and the journal of a reference. One source writes parts that the other leaves out, so
// words on either side are no difference, and what is common counts more.
var partsWeights = map[string]map[string]match.Weight{
	"title": {"half alike": 350, "mostly alike": 550},
	"title residual": {
		"both keep words of their own": 0, "one keeps a word": 0, "one is a part or an accessory": 0, "one keeps a number": 0,
		"numbers differ": -100, "words differ that tell things apart": 0, "one keeps a word that tells things apart": 0,
	},
}

// ofParts sets the weights of a kind that compares a single column of such titles.
func (s *Suggester) ofParts(d *Draft) {
	compared := slices.DeleteFunc(slices.Clone(d.Schema.Attributes), func(a match.Attribute) bool { return d.Schema.Shows(a.Name) })
	if len(compared) != 1 || compared[0].Type != match.TypeName || d.Schema.Style() != match.StyleTitle || d.Schema.Weights != nil {
		return
	}
	var values []string
	for a := range s.attributes(d) {
		values = append(values, a[compared[0].Name]...)
	}
	if !anyPlace(values) {
		return
	}
	d.Schema.Weights = partsWeights
	i := slices.IndexFunc(d.Columns, func(c DraftColumn) bool { return c.Attribute == compared[0].Name })
	d.Columns[i].Why += ", put together from parts"
}

// anyPlace reports whether the parts of values, between commas or semicolons, stand in any place: of those that recur,
// one in twenty is the first of one value and a later one of another. A brand or a street is always the first, and a colour
// or a town never.
func anyPlace(values []string) bool {
	first, later := map[string]int{}, map[string]int{}
	for _, v := range values {
		parts := strings.FieldsFunc(strings.ToLower(v), func(r rune) bool { return r == ',' || r == ';' })
		for i, part := range parts {
			if part = strings.TrimSpace(part); i == 0 {
				first[part]++
			} else {
				later[part]++
			}
		}
	}
	recurring, both := 0, 0
	for part, n := range later {
		if n+first[part] > 1 {
			recurring++
			if first[part] > 0 {
				both++
			}
		}
	}
	return recurring >= fewParts && both*placedShare >= recurring
}
