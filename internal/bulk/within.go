// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// aliasAmong returns how well a plain name fits an attribute: by some of its words if no attribute of any kind has the
// whole name.
func aliasAmong(kinds []*match.Schema, kind *match.Schema, a *match.Attribute, plain string) alias {
	if is := aliasOf(kind, a, plain); is != noAlias {
		return is
	}
	end := within(kind, a, plain)
	if end == "" {
		return noAlias
	}
	for _, k := range kinds {
		for i := range k.Attributes {
			other := &k.Attributes[i]
			if aliasOf(k, other, plain) != noAlias || other.Name != a.Name && other.Type == a.Type && aliasOf(k, other, end) != noAlias {
				return noAlias
			}
		}
	}
	return innerAlias
}

// within returns the end of a plain name that is an alias of an attribute, as in res_city and hotelname, or its last
// word if that begins the alias, as in name_first; "" for other names. Only attributes of names and locations have such
// columns: a tax_type or a bank_url is not an attribute of the thing itself. Columns about another person or an earlier
// time do not count.
func within(kind *match.Schema, a *match.Attribute, plain string) string {
	aliases := append([]string{a.Name}, kind.AliasesOf(a.Name)...)
	switch {
	case a.Type == match.TypeName && a.Role == match.RoleNone:
		aliases = slices.DeleteFunc(aliases, func(alias string) bool {
			return !nameNames[alias] || workNames[alias] && kind.Style() != match.StyleTitle
		})
	case a.Type == match.TypeText && a.Role != match.RoleNone && a.Role != match.RoleNote, a.Type == match.TypeName,
		a.Type == match.TypeAddress, a.Type == match.TypePhone, a.Type == match.TypeEmail, a.Type == match.TypeGeo, a.Type == match.TypeDate:
	default:
		return ""
	}
	words := strings.Split(plain, "_")
	if n := len(words); n > 2 && suffixes[words[n-1]] {
		words = words[:n-1]
	}
	last := len(words) - 1
	if last > 0 && words[last] == "by" { // the Danish town, which is English here: Introduced_By
		return ""
	}
	if slices.Contains(aliases, words[last]+"_"+strings.Join(words[:last], "_")) {
		return words[last]
	}
	if a.Role == match.RoleRegion && slices.ContainsFunc(words[:last], func(w string) bool { return w == "city" || w == "town" }) {
		return "" // both are in it: CITY_STATE
	}
	others := func(w string) bool { return ofOthers[w] && !(w == "birth" && a.Type == match.TypeDate) }
	for i := 1; i < len(words); i++ {
		if end := strings.Join(words[i:], "_"); slices.Contains(aliases, end) && !slices.ContainsFunc(words[:i], others) {
			return end
		}
	}
	if !slices.ContainsFunc(words, others) && slices.ContainsFunc(aliases, func(alias string) bool {
		before, ends := strings.CutSuffix(words[last], alias)
		return ends && len(alias) >= 4 && len(before) >= 3 && !ofOthers[before]
	}) {
		return words[last]
	}
	return ""
}

// ofOthers are words in names of columns about another person or thing than the row's, or about another time.
var ofOthers = nameSet(`owner agent manager salesperson salesman seller vendedor verkaufer head headteacher
	principal dean mayor chairman president ceo founder assistant assistants asst authorized father mother parent
	spouse partner guardian emergency doctor physician user nick file host domain previous prior former old last birth
	created updated besitzer inhaber eigentumer ansprechpartner vater mutter geburts proprietaire pere mere propietario
	padre madre proprietario eigenaar`)
