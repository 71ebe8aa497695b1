// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// Some lists repeat the values of their columns at the end of titles: a platform, a binding, a size.

// cutVariants returns a title without variants of the record at its end, in brackets or behind a dash or a comma.
func (r *Record) cutVariants(raw string) string {
	for {
		rest, end := cutLast(raw)
		if rest == "" || !slices.ContainsFunc(r.variants, func(v variant) bool { return v.names(fold(end)) }) {
			return raw
		}
		raw = rest
	}
}

// cutLast divides a title before its last bracket, dash or comma.
func cutLast(raw string) (rest, end string) {
	raw = strings.TrimSpace(raw)
	marks := []string{" - ", " – ", " — ", ", "}
	if strings.HasSuffix(raw, ")") || strings.HasSuffix(raw, "]") {
		raw, marks = raw[:len(raw)-1], []string{" (", " ["}
	}
	at, size := -1, 0
	for _, mark := range marks {
		if i := strings.LastIndex(raw, mark); i > at {
			at, size = i, len(mark)
		}
	}
	if at < 0 {
		return "", ""
	}
	return strings.TrimSpace(raw[:at]), raw[at+size:]
}

// names reports whether a folded text is the variant or an abbreviation of it. A number alone may be any, and the number
// of a volume is part of a title.
func (v variant) names(folded string) bool {
	word, _, _ := strings.Cut(folded, " ")
	return len(word) > 1 && !digits(word) && volumeWords[word] == "" && !vary(variantParts(folded), v.parts)
}

// isVariant reports whether a word of another title names a variant of the record.
func (t *title) isVariant(w string) bool {
	return slices.ContainsFunc(t.variants, func(v variant) bool { return v.names(w) })
}

// measured reports whether a word is a measure of the title in another unit: 100ml, and 3.4oz.
func (t *title) measured(w string) bool {
	if len(t.measures) == 0 || !hasDigit(w) {
		return false
	}
	m, ok := parseMeasure(w)
	return ok && slices.ContainsFunc(t.measures, func(of measure) bool { return m.unit != of.unit && m.is(of) })
}
