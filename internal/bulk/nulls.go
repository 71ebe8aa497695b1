// SPDX-License-Identifier: Apache-2.0

package bulk

import "slices"

// nullTexts are the texts that databases, data frames and spreadsheets write for a missing value.
var nullTexts = []string{"NULL", "null", "(null)", "<null>", `\N`, "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "None", "-"}

// withoutNulls returns the columns without texts that mean a missing value, and these texts in the order of nullTexts.
func withoutNulls(columns []sampled) (kept []sampled, texts []string) {
	found := map[string]bool{}
	kept = slices.Clone(columns)
	for i, c := range kept {
		kept[i].values = slices.DeleteFunc(slices.Clone(c.values), func(value string) bool {
			is := slices.Contains(nullTexts, value)
			found[value] = found[value] || is
			return is
		})
	}
	for _, text := range nullTexts {
		if found[text] {
			texts = append(texts, text)
		}
	}
	return kept, texts
}

// recogniseNulls guesses that such texts mean missing values, if a mapped column has one. It guesses nothing if all
// columns have the names of attributes or the options are complete, so that a part of a file is read like the whole
// file.
func (p *Plan) recogniseNulls(found *recognition, columns []sampled, rows int) *recognition {
	if said := p.options.IgnoreUnknown && len(p.options.Set) > 0; said || len(p.options.Null) > 0 || p.options.Exact || p.Format != CSV && p.Format != XLSX {
		return found
	}
	if !slices.ContainsFunc(columns, func(c sampled) bool { return found.reasons[c.name] != "" }) {
		return found
	}
	kept, texts := withoutNulls(columns)
	if len(texts) == 0 {
		return found
	}
	o := *p.options
	o.Null = texts
	without, err := recognise(&o, found.kinds, kept, rows, found.lists)
	if err != nil {
		return found // the texts are values
	}
	for i, c := range columns {
		if uses, _ := without.mapping.resolve(c.name); len(uses) > 0 && len(kept[i].values) < len(c.values) {
			p.options, p.FormatGuessed = &o, true
			return without
		}
	}
	return found
}
