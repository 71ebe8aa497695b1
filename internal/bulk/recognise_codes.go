// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// codes returns 1 if a column for a name has mostly codes, as Supplier has beside Supplier Name, or one value in all
// rows, as Vendor has in the orders of a shop, and otherwise 0.
func (r *recognition) codes(g guessed) int {
	values, coded := r.columns[g.column].values, 0
	for _, v := range values {
		if codeForm.MatchString(strings.TrimSpace(v)) {
			coded++
		}
	}
	if g.attribute.Type == match.TypeName && (coded*2 > len(values) || isConstant(values)) {
		return 1
	}
	return 0
}

func isConstant(values []string) bool {
	return len(values) > 2 && !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// isOwner reports whether a column has the address or phone number of the owner of the file, such as the shop that all
// payments are to: one value in all rows, beside another column for the attribute whose values differ.
func (r *recognition) isOwner(g guessed, all []guessed) bool {
	values := r.columns[g.column].values
	return (g.attribute.Type == match.TypeEmail || g.attribute.Type == match.TypePhone) && len(values) == r.rows &&
		isConstant(values) && slices.ContainsFunc(all, func(other guessed) bool {
		of := r.columns[other.column].values
		return other.attribute == g.attribute && len(of) > 2 && !isConstant(of)
	})
}
