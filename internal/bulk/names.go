// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/locus-db/locus/match"
)

// plainName returns the name of a column in lower case without accents, its words joined by "_": "Kunden-Nr." is
// kunden_nr, "BillingCity" billing_city, "POCity" po_city, "g:title" title, "Επώνυμο" επωνυμο. The name of a path is its
// last name, unless that describes the elements of a list: categories[].name is categories, and contacts[].type
// contacts_type. The name of a question is what it asks for.
func plainName(name string) string {
	name = asked(name)
	if i := strings.IndexByte(name, ':'); (i == 1 || i == 2) && i+1 < len(name) && isWord(name[:i]) && isWord(name[i+1:i+2]) {
		name = name[i+1:] // a namespace, as in XML
	}
	if i := strings.LastIndex(name, ".$"); i > 0 && slices.Contains(extended, name[i+2:]) {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 && i+1 < len(name) && name[i+1] != '-' && !strings.ContainsAny(name, " ") && !abbreviated[strings.ToLower(name[i+1:])] {
		list, isList := strings.CutSuffix(name[:i], listMark)
		switch last := name[i+1:]; {
		case isList && slices.Contains(ofElements, strings.ToLower(last)):
			return plainName(list)
		case isList && slices.Contains(typesOfElements, strings.ToLower(last)):
			return plainName(list) + "_" + strings.ToLower(last)
		default:
			name = last
		}
	}
	var b strings.Builder
	lower, letter := false, ' '
	text := []rune(norm.NFKD.String(strings.ReplaceAll(name, "ß", "ss")))
	for i, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r):
			// in other scripts the mark makes a different letter, such as й
			if !unicode.In(letter, unicode.Latin, unicode.Greek) {
				b.WriteRune(r)
			}
		case strings.ContainsRune("'’ʼ", r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if unicode.IsUpper(r) && (lower || unicode.IsUpper(letter) && beginsWord(text[i+1:])) {
				b.WriteByte('_')
			}
			lower, letter = unicode.IsLower(r), r
			b.WriteRune(unicode.ToLower(r))
		default:
			lower, letter = false, ' '
			b.WriteByte('_')
		}
	}
	words := strings.FieldsFunc(norm.NFC.String(b.String()), func(r rune) bool { return r == '_' })
	return strings.Join(words, "_")
}

// beginsWord reports whether a capital letter with this text behind it begins a word after an abbreviation, as the C of
// POCity does. The L of URLs does not.
func beginsWord(rest []rune) bool {
	return len(rest) > 1 && unicode.IsLower(rest[0]) && unicode.IsLower(rest[1])
}

// isWord reports whether a text has letters only.
func isWord(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// abbreviated are words behind a point that are not the last name of a path: Steuer-Id.Nr.
var abbreviated = nameSet("nr no")

// extended are the names of the types that MongoDB writes around values in JSON: {"_id": {"$oid": "..."}}.
var extended = strings.Fields("oid date uuid numberLong numberInt numberDouble numberDecimal")

// ofElements are names for the values of list elements, typesOfElements for their types.
var (
	ofElements      = strings.Fields("name title label value text number")
	typesOfElements = strings.Fields("type kind category")
)

// alias is how well a column name fits an attribute: lower is better.
type alias int

const (
	noAlias     alias = iota
	otherCase         // the name of the attribute in other letters
	namedAlias        // one of its aliases
	looserAlias       // an alias after a word such as billing, or before a number
	innerAlias        // an alias after any other words
)

// prefixes are words before the name of an attribute that do not change its meaning.
var prefixes = nameSet(`billing mailing shipping delivery primary main work customer client contact location legal home secondary addr provider
	rechnungs rechnung kunden kunde haupt liefer cliente fatturazione facturation facturacion factuur klant klienta musteri`)

// companyPrefixes are words before a name, too, but the name is not that of a person.
var companyPrefixes = nameSet(`business company account store shop firmen firma employer site facility branch office outlet venue institution
	agency establishment organization organisation practice school university college institute brewery winery dealer hospital clinic pharmacy restaurant hotel museum church library filial filiale standort
	schule etablissement ecole establecimiento escuela sede scuola vestiging krankenhaus apotheke praxis verein kirche bibliothek
	societe entreprise magasin boutique hopital pharmacie eglise bibliotheque association organisme
	empresa unidad negocio tienda comercio restaurante colegio instituto institucion universidad farmacia iglesia biblioteca asociacion
	azienda ditta negozio ristorante albergo istituto ospedale chiesa loja estabelecimento escola instituicao igreja
	bedrijf winkel ziekenhuis kerk vereniging firmy sklepu szkoly apteki skoly kniznice knihovny otel okul hastane isletme kurum sube magaza
	supplier vendor creditor debtor partner firm lieferanten kreditoren fournisseur proveedor fornitore fornecedor leverancier`)

// personPrefixes are words before a name, too, but the name is that of a person.
var personPrefixes = nameSet(`person patient member employee attendee student pupil teacher voter donor passenger guest tenant resident applicant
	candidate player user subscriber recipient beneficiary insured deceased subject
	mitglied mitglieder schuler schueler teilnehmer mitarbeiter membre adherent eleve etudiant employe salarie usager utilisateur
	paciente alumno estudiante socio miembro empleado usuario aluno funcionario utente paziente studente dipendente
	lid leerling deelnemer medewerker pacjenta ucznia osoby`)

// personColumns are columns that may have the names of people, if their values are names of people.
var personColumns = nameSet("person customer client contact member patient employee student attendee guest kunde mitglied client cliente klant")

// firmColumns are those that may have the names of firms, too.
var firmColumns = nameSet("customer client kunde cliente klant")

// suffixes are words after the name of an attribute that do not change its meaning.
var suffixes = nameSet(`work home business mobile value cd desc geschaftlich privat mobil`)

// counted returns a name of an address book without its number: phone_1_value is phone, address_1_city is city. It
// returns other names as they are.
func counted(plain string) string {
	number := func(word string) bool { return strings.Trim(word, "0123456789") == "" }
	if head, ok := strings.CutSuffix(plain, "_value"); ok {
		if i := strings.LastIndexByte(head, '_'); i >= 0 && number(head[i+1:]) {
			return head[:i]
		}
	}
	if tail, ok := strings.CutPrefix(plain, "address_"); ok {
		if word, rest, ok := strings.Cut(tail, "_"); ok && number(word) {
			return rest
		}
	}
	return plain
}

// joined returns a plain name without the "_" between its words.
func joined(plain string) string { return strings.ReplaceAll(plain, "_", "") }

// same reports whether two plain names are equal when joined.
func same(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, "_"), strings.TrimLeft(b, "_")
		if a == "" || b == "" || a[0] != b[0] {
			return a == b
		}
		a, b = a[1:], b[1:]
	}
}

// aliasOf returns how well a plain name fits an attribute of a kind.
func aliasOf(kind *match.Schema, a *match.Attribute, plain string) alias {
	aliases := kind.AliasesOf(a.Name)
	switch {
	case same(plain, a.Name):
		return otherCase
	case slices.ContainsFunc(aliases, func(alias string) bool { return same(alias, plain) }):
		return namedAlias
	}
	looser := func(plain string) bool {
		return same(plain, a.Name) || slices.ContainsFunc(aliases, func(alias string) bool { return same(alias, plain) })
	}
	if short := strings.TrimRight(plain, "_0123456789"); a.Many && short != plain && looser(short) {
		return looserAlias
	}
	if one, plural := strings.CutSuffix(plain, "s"); a.Many && plural && (looser(one) || looser(strings.TrimSuffix(one, "e"))) {
		return looserAlias
	}
	if isNamePart(a) {
		if stem, numbered := numberless(plain); numbered && looser(stem) {
			return looserAlias
		}
	}
	plain = counted(plain)
	if i := strings.LastIndexByte(plain, '_'); i > 0 && suffixes[plain[i+1:]] {
		plain = plain[:i]
	}
	if looser(plain) {
		return looserAlias
	}
	if first, rest, cut := strings.Cut(plain, "_"); cut && owns(kind, a, first) && looser(rest) {
		return looserAlias
	}
	if bare := ofPlace(a, plain); bare != "" && looser(bare) {
		return looserAlias
	}
	if i := strings.LastIndexByte(plain, '_'); i > 0 && owns(kind, a, plain[i+1:]) {
		if head, _ := ofOwner(plain); head != "" && looser(head) {
			return looserAlias
		}
	}
	return noAlias
}

// owns reports whether a word says whose an attribute is, and does not change what it means: a customer's, or for names
// that of a company or of a person, as the kind has them.
func owns(kind *match.Schema, a *match.Attribute, word string) bool {
	person := kind.Style() == match.StylePerson
	return prefixes[word] || companyPrefixes[word] && (a.Type != match.TypeName || !person) ||
		personPrefixes[word] && (a.Type != match.TypeName || person)
}

// nameWords are the words for a name that names of columns with places have: nom_commune, province_nom.
var nameWords = nameSet("name nom nombre nome naam nazwa nazov nazev libelle")

// ofPlace returns the plain name of a town, region or country without the word for its name, "" if it has none.
func ofPlace(a *match.Attribute, plain string) string {
	if a.Role != match.RoleLocality && a.Role != match.RoleRegion && a.Role != match.RoleCountry {
		return ""
	}
	words := strings.Split(plain, "_")
	switch last := len(words) - 1; {
	case last > 0 && nameWords[words[0]] && (words[0] != "name" || links[words[1]]):
		return strings.Join(slices.DeleteFunc(words[1:], func(w string) bool { return links[w] }), "_")
	case last > 0 && nameWords[words[last]]:
		return strings.Join(words[:last], "_")
	}
	return ""
}

// ofOwner divides a name that ends with its owner, as most languages have it: direccion_cliente, name_of_the_school. The
// head is "" if there is none.
func ofOwner(plain string) (head, owner string) {
	words := strings.Split(plain, "_")
	last := len(words) - 1
	owner = words[last]
	for last > 0 && links[words[last-1]] {
		last--
	}
	return strings.Join(words[:last], "_"), owner
}

// links are words between a name and its owner.
var links = nameSet("of the de del della dello da do du des di d la le les l el los las van der von")

// isHeaderName reports whether a column name is that of an attribute, a key, or the like.
func isHeaderName(name string, kinds []*match.Schema) bool {
	return isPlainHeader(plainName(name), kinds)
}

func isPlainHeader(plain string, kinds []*match.Schema) bool {
	return headerAlias(plain, kinds) != noAlias
}

// headerAlias returns how well a plain name fits an attribute, a key, or the like.
func headerAlias(plain string, kinds []*match.Schema) alias {
	if _, known := reserved[plain]; known || keyRank(plain) > 0 {
		return namedAlias
	}
	best := noAlias
	for _, kind := range kinds {
		for i := range kind.Attributes {
			if is := aliasOf(kind, &kind.Attributes[i], plain); is != noAlias && (best == noAlias || is < best) {
				best = is
			}
		}
	}
	return best
}
