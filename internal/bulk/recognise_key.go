// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
	"unicode"

	"github.com/locus-db/locus/match"
)

// guessKey guesses the key column: it has the name of a key, and its values are present and different in all rows of
// the sample. The surest name is preferred, then the first column.
func (r *recognition) guessKey() {
	if r.mapping.hash || len(r.mapping.key) > 0 || slices.Contains(r.names(), ColumnKey) {
		return
	}
	best, rank := "", 0
	for _, c := range r.columns {
		uses, _ := r.mapping.resolve(c.name)
		part := slices.ContainsFunc(uses, func(u use) bool { // the number of a house is no key, nor is one to call
			a, _ := r.kind.Attribute(u.attribute)
			return u.kind == usePart || a.Type == match.TypePhone
		})
		if n := keyRank(c.plain); n > 0 && (rank == 0 || n < rank) && !part && r.isUnique(c) && !slices.Contains(r.o.Ignore, c.name) {
			best, rank = c.name, n
		}
	}
	why := "the name of a key, and different in every row"
	if best == "" && len(r.columns) > 0 && r.isCodeOfRow(r.columns[0]) {
		best, why = r.columns[0].name, "the first column, a code, and different in every row"
	}
	if best == "" {
		return
	}
	if of := r.elementType(best); of != "" {
		delete(r.mapping.guess, of)
		r.mapping.key = append(r.mapping.key, of)
		r.reasons[of] = "each type has ids of its own"
	}
	delete(r.mapping.guess, best)
	r.mapping.key = append(r.mapping.key, best)
	if at := slices.Index(r.names(), best); mostly(decimalForm, r.columns[at].values) {
		why += "; other exports may have " + strings.TrimSuffix(r.columns[at].values[0], ".0")
	}
	r.reasons[best] = why
	if r.rows == 0 {
		r.reasons[best] = "the name of a key"
	}
}

// papers begin names of numbers of documents, which several rows of the next file may have.
var papers = nameSet("order invoice booking ticket receipt catalog transaction bestellung rechnung beleg commande facture pedido factura ordine fattura")

// lineNumbers are names, without "_", of columns that count the rows: the next export counts others.
var lineNumbers = nameSet("srno sno sn slno serialno serialnumber lfdnr laufendenummer lp linenumber lineno rownumber rowno")

// isCodeOfRow reports whether a column without another meaning has codes that differ in every row: its name ends or begins
// as those of keys do, or is that of suppliers or customers, or its values are letters and digits.
func (r *recognition) isCodeOfRow(c sampled) bool {
	if uses, _ := r.mapping.resolve(c.name); len(uses) > 0 || len(c.values) == 0 || !r.isUnique(c) || slices.Contains(r.o.Ignore, c.name) {
		return false
	}
	words := strings.Split(c.plain, "_")
	last := len(words) - 1
	if papers[words[0]] || papers[words[last]] || lineNumbers[joined(c.plain)] {
		return false
	}
	named := last > 0 && (keyRank(words[last]) > 0 || keyRank(words[0]) > 0) || r.isCalledName(c)
	return !slices.ContainsFunc(c.values, func(v string) bool {
		mixed := mixedCode.MatchString(v) && strings.ContainsFunc(v, unicode.IsDigit) && strings.ContainsFunc(v, unicode.IsLetter)
		return !mixed && !(named && codeForm.MatchString(v))
	})
}

// maxKey is the length of a key that is guessed, in bytes.
const maxKey = 255

// isUnique reports whether a column has a different value in every row of the sample. A row that lacks most values
// needs no key: it is the total below a list, and is refused.
func (r *recognition) isUnique(c sampled) bool {
	if len(c.values)+c.short != r.rows || r.rows > 0 && len(c.values) == 0 {
		return false
	}
	seen := make(map[string]bool, len(c.values))
	for _, value := range c.values {
		if seen[value] || len(value) > maxKey || strings.TrimSpace(value) == "" {
			return false
		}
		seen[value] = true
	}
	return true
}
