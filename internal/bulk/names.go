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
var prefixes = []string{
	"billing", "mailing", "shipping", "delivery", "primary", "main", "work", "customer", "client", "contact", "location", "legal", "home", "secondary", "addr", "provider",
	"rechnungs", "rechnung", "kunden", "kunde", "haupt", "liefer", "cliente", "fatturazione", "facturation", "facturacion", "factuur", "klant",
}

// companyPrefixes are words before a name, too, but the name is not that of a person.
var companyPrefixes = []string{
	"business", "company", "account", "store", "shop", "firmen", "firma", "employer", "site", "facility", "branch", "office", "outlet", "venue", "institution",
	"agency", "practice", "school", "hospital", "clinic", "pharmacy", "restaurant", "hotel", "museum", "church", "library", "filial", "filiale", "standort",
	"schule", "etablissement", "ecole", "establecimiento", "escuela", "sede", "scuola", "vestiging",
	"supplier", "vendor", "creditor", "debtor", "partner", "firm", "lieferanten", "kreditoren", "fournisseur", "proveedor", "fornitore", "fornecedor", "leverancier",
}

// personPrefixes are words before a name, too, but the name is that of a person.
var personPrefixes = []string{
	"person", "patient", "member", "employee", "attendee", "student", "pupil", "teacher", "voter", "donor", "passenger", "guest", "tenant", "resident", "applicant",
	"candidate", "player", "user", "subscriber", "recipient", "beneficiary", "insured", "deceased", "subject",
}

// personColumns are columns that may have the names of people, if their values are names of people.
var personColumns = nameSet("person customer client contact member patient employee student attendee guest kunde mitglied client cliente klant")

// suffixes are words after the name of an attribute that do not change its meaning.
var suffixes = []string{"work", "home", "business", "mobile", "value", "cd", "desc", "geschaftlich", "privat", "mobil"}

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
	if i := strings.LastIndexByte(plain, '_'); i > 0 && slices.Contains(suffixes, plain[i+1:]) {
		plain = plain[:i]
	}
	if looser(plain) {
		return looserAlias
	}
	first, rest, cut := strings.Cut(plain, "_")
	person := kind.Style() == match.StylePerson
	company := slices.Contains(companyPrefixes, first) && (a.Type != match.TypeName || !person)
	member := slices.Contains(personPrefixes, first) && (a.Type != match.TypeName || person)
	if cut && (company || member || slices.Contains(prefixes, first)) && looser(rest) {
		return looserAlias
	}
	return noAlias
}

// keyNames are names of columns with the source's own key, the most certain first, without accents and "_".
var keyNames = [][]string{
	strings.Fields("key id uid uuid guid recordid entityid externalid uniqueid rowid objectid"),
	strings.Fields(`customerid customerno customernumber customernr custid custno clientid clientno clientnumber accountid accountno accountnumber contactid contactno
		leadid facilityid schoolid hospitalid establishmentid officeid restaurantid hotelid libraryid museumid npi personid memberid memberno membernumber membershipno patientid employeeid employeeno companyid companynumber businessid placeid venueid storeid storeno storenumber shopid
		locationid osmid vendorid vendorno supplierid supplierno partnerid partnerno productid productno articleid articleno articlenumber itemid itemno itemnumber listingid sku sellersku variantsku partno partnumber
		kundennummer kundennr kundenid kdnr debitor debitorennummer debitornr debitorennr kreditorennummer lieferantennummer lieferantennr mitgliedsnummer mitgliedsnr mitgliednr
		artikelnummer artikelnr artnr teilenummer teilenr sachnummer materialnummer materialnr bestellnummer bestellnr personalnummer personalnr filialnummer filialnr datensatzid
		numeroclient noclient numclient nclient codeclient idclient identifiant numeroadherent idcontact codearticle codetiers siret referenceproduit idproduit
		numerocliente ncliente nocliente idcliente codigocliente codcliente numerosocio codigoarticulo idproducto
		codicecliente codcliente idcliente codicearticolo codicefornitore idprodotto
		codigodocliente numerodocliente iddocliente codigoproduto idproduto
		klantnummer klantnr klantid relatienummer debiteurnummer debiteurnr artikelnummer lidnummer
		kunnr lifnr matnr
		numerklienta nrklienta idklienta kodklienta kundnummer kundnr kundenr kundenummer medlemsnummer cislozakaznika idzakaznika kodzakaznika
		кодклиента номерклиента idклиента номерклієнта кодклієнта musterino musterikodu κωδικοσπελατη κωδικοςπελατη codclient ugyfelszam ugyfelkod ugyfelazonosito asiakasnumero asiakasnro
		顧客番号 顧客コード 顧客id 会員番号 商品コード 商品番号 客户编号 客户编码 客户id 商品编号 商品编码 고객번호 고객코드 고객id 회원번호 상품코드 상품번호 رقمالعميل`),
	strings.Fields(`no nr num number nummer numero numer code codigo codice reference ref referencia riferimento identifier kennung identificador
		konto kod cislo код номер идентификатор ідентифікатор κωδικος κωδικοσ tunnus azonosito 番号 コード 编号 编码 代码 번호 코드 رقم الرقم`),
}

// keyRank returns the rank of a name among the names of keys, 1 for the most certain; 0 if it is not one.
func keyRank(plain string) int {
	name := joined(plain)
	for i, names := range keyNames {
		if slices.Contains(names, name) {
			return i + 1
		}
	}
	return 0
}

// isHeaderName reports whether a column name is that of an attribute, a key, or the like.
func isHeaderName(name string, kinds []*match.Schema) bool {
	return isPlainHeader(plainName(name), kinds)
}

func isPlainHeader(plain string, kinds []*match.Schema) bool {
	if _, known := reserved[plain]; known || keyRank(plain) > 0 {
		return true
	}
	for _, kind := range kinds {
		for i := range kind.Attributes {
			if aliasOf(kind, &kind.Attributes[i], plain) != noAlias {
				return true
			}
		}
	}
	return false
}
