// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// languageCodes are ends of names that say in which language a column is. Those of languages that mean something else
// there are missing: name_id has ids, name_no numbers, and name_hr is that of a department.
var languageCodes = nameSet(`en eng fr fre fra de deu ger es esp spa it ita pt por nl pl ru uk ua zh cn tw ja jp ko kr ar ara fa he tr sv da fi cs cz
	sk hu ro el bg th vi hi ur bn ta`)

// languageNames are the names of some languages, which stand before or behind.
var languageNames = nameSet(`english french german spanish italian portuguese dutch arabic chinese japanese korean russian hebrew turkish hindi
	local latin englisch deutsch anglais francais ingles espanol`)

// inNoLanguage returns the plain name of a column without its language, as in name_ar, name:de and name.en, "" if it has
// none.
func inNoLanguage(name string) string {
	if parent, code, ok := cutLast(name, "."); ok && languageCodes[strings.ToLower(code)] {
		return plainName(parent)
	}
	words := strings.Split(plainName(name), "_")
	switch last := len(words) - 1; {
	case last == 0:
		return ""
	case languageCodes[words[last]], languageNames[words[last]]:
		return strings.Join(words[:last], "_")
	case languageNames[words[0]]:
		return strings.Join(words[1:], "_")
	}
	return ""
}

func cutLast(text, mark string) (before, after string, found bool) {
	i := strings.LastIndex(text, mark)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(mark):], true
}

// isTranslated reports whether a plain name is that of a name or of a part of an address, which may be in several languages.
func isTranslated(plain string, kinds []*match.Schema) bool {
	return slices.ContainsFunc(kinds, func(k *match.Schema) bool {
		return slices.ContainsFunc(k.Attributes, func(a match.Attribute) bool {
			of := a.Type == match.TypeName || isOfAddress(&a) && a.Role != match.RolePostcode
			return of && aliasOf(k, &a, plain) != noAlias
		})
	})
}

// lacks returns how many rows lack a column that is read without its language: of name_en and name_ar the one that more
// rows have is the name.
func (r *recognition) lacks(column int) int {
	if c := r.columns[column]; inNoLanguage(c.name) == c.plain {
		return r.rows - len(c.values)
	}
	return 0
}
