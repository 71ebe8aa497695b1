// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
)

// keyNames are names of columns with the source's own key, the most certain first, without accents and "_". Those of the
// second rank are beside what ofThing composes.
var keyNames = [][]string{
	strings.Fields("key id uid uuid guid recordid entityid externalid uniqueid rowid objectid"),
	strings.Fields(`contactno npi urn osmid listingid sku sellersku variantsku
		kundennummer kundennr kundenid kdnr debitor debitorennummer debitornr debitorennr kreditorennummer lieferantennummer lieferantennr mitgliedsnummer mitgliedsnr mitgliednr
		artikelnummer artikelnr artnr teilenummer teilenr sachnummer materialnummer materialnr bestellnummer bestellnr personalnummer personalnr filialnummer filialnr datensatzid
		identifiant codetiers siret
		klantnummer klantnr klantid relatienummer debiteurnummer debiteurnr artikelnummer lidnummer
		kunnr lifnr matnr
		numerklienta nrklienta idklienta kodklienta kundnummer kundnr kundenr kundenummer medlemsnummer cislozakaznika idzakaznika kodzakaznika
		кодклиента номерклиента idклиента номерклієнта кодклієнта musterino musterikodu κωδικοσπελατη κωδικοςπελατη codclient ugyfelszam ugyfelkod ugyfelazonosito asiakasnumero asiakasnro
		顧客番号 顧客コード 顧客id 会員番号 商品コード 商品番号 客户编号 客户编码 客户id 商品编号 商品编码 고객번호 고객코드 고객id 회원번호 상품코드 상품번호 رقمالعميل`),
	strings.Fields(`no nr num number nummer numero numer code codigo codice reference ref referencia riferimento identifier kennung identificador
		konto kod cislo код номер идентификатор ідентифікатор κωδικος κωδικοσ tunnus azonosito 番号 コード 编号 编码 代码 번호 코드 رقم الرقم
		slug handle permalink matricule matricola`),
	strings.Fields("username login"),
}

// Names of keys that are composed: customer_id, vendor no., codigo_del_cliente.
var (
	// things are what a row may be about. Others, such as the category or the doctor, are rows of another table.
	things = nameSet(`customer cust client account contact lead person member membership patient employee user student subscriber donor voter
		facility school hospital establishment office restaurant hotel library museum clinic pharmacy church dealer company organization organisation org business
		place venue store shop branch location property vendor supplier partner provider product article item part material book film movie song track wine`)
	idWords = strings.Fields("id uid uuid guid code")
	// countedThings are those that have numbers: the number of a shop or an office is its door or its telephone.
	countedThings = nameSet(`customer cust client account member membership patient employee student company organization store vendor supplier partner provider
		product article item part material`)
	numberWords = strings.Fields("number num no nr ref")

	// romanceThings stand behind idFirst.
	romanceThings = nameSet(`client contact personne membre adherent patient eleve employe utilisateur fournisseur entreprise societe etablissement magasin produit article
		cliente contacto persona miembro socio paciente alumno empleado usuario proveedor empresa establecimiento tienda producto articulo
		contatto socio paziente studente dipendente utente fornitore azienda negozio prodotto articolo contato pessoa membro aluno funcionario fornecedor loja produto artigo`)
	idFirst = strings.Fields("id codigo codice code cod cve clave numero num no n nr referencia reference ref")
)

// ofThing reports whether a plain name is that of the number of a thing.
func ofThing(plain string) bool {
	name := joined(plain)
	if words := strings.Split(plain, "_"); len(words) > 2 { // codigo_del_cliente
		name = strings.Join(slices.DeleteFunc(words, func(w string) bool { return links[w] }), "")
	}
	ends := func(words []string, of map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			thing, is := strings.CutSuffix(name, w)
			return is && of[thing]
		})
	}
	return ends(idWords, things) || ends(numberWords, countedThings) || slices.ContainsFunc(idFirst, func(w string) bool {
		thing, is := strings.CutPrefix(name, w)
		return is && romanceThings[thing]
	})
}

// keyRank returns the rank of a name among the names of keys, 1 for the most certain; 0 if it is not one.
func keyRank(plain string) int {
	name := joined(plain)
	if ofThing(plain) {
		return 2
	}
	for i, names := range keyNames {
		if slices.Contains(names, name) {
			return i + 1
		}
	}
	return 0
}
