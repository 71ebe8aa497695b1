// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"iter"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// longVariant is the mean length of values above which they are texts that are written in many ways.
const longVariant = 24

// vary makes columns of few values and of numbers compared if, in the rows, things of one name differ in them: colours,
// sizes, versions, seasons.
func (s *Suggester) vary(d *Draft, guesses []guess) {
	tried := *d.Schema
	tried.Attributes = slices.Clone(d.Schema.Attributes)
	var varying []int // columns
	short := func(c *column) bool { return c.length <= longVariant*c.values }
	for i, g := range guesses {
		at := slices.IndexFunc(tried.Attributes, func(a match.Attribute) bool { return a.Name == d.Columns[i].Attribute })
		if at < 0 || s.columns[i].named(sourceNames) {
			continue
		}
		switch a := &tried.Attributes[at]; {
		case g.Type == match.TypeText && g.Tag && g.Role == match.RoleNone && !g.Many && short(s.columns[i]):
			a.Role = match.RoleVariant
		case g.Type == match.TypeText && g.Role == match.RoleNote && s.columns[i].mostly(formNumber) && !s.columns[i].named(changingNames):
			a.Type, a.Role = match.TypeNumber, match.RoleNone
		default:
			continue
		}
		varying = append(varying, i)
	}
	if len(varying) == 0 || tried.Validate() != nil {
		return
	}
	terms := match.TermsOf(&tried, s.attributes(d))
	for _, i := range varying {
		a, _ := tried.Attribute(d.Columns[i].Attribute)
		if !terms.Tells(a) || terms.Avoided(a) && !s.columns[i].named(variantNames) {
			continue
		}
		at := slices.IndexFunc(d.Schema.Attributes, func(of match.Attribute) bool { return of.Name == a.Name })
		d.Schema.Attributes[at] = a
		guesses[i].Attribute = a
		d.Columns[i].Type, d.Columns[i].Why = typeWords(a), "tells things of one name apart"
	}
}

// attributes returns the rows as a draft reads them.
func (s *Suggester) attributes(d *Draft) iter.Seq[match.Attributes] {
	of := map[string]string{}
	for _, c := range d.Columns {
		of[c.Name] = c.Attribute
	}
	return func(yield func(match.Attributes) bool) {
		for _, row := range s.rows {
			a := match.Attributes{}
			for _, f := range row {
				if name := of[f.Name]; name != "" && len(f.Values) > 0 {
					a[name] = f.Values
				}
			}
			d.composeNames(row, a)
			if !yield(a) {
				return
			}
		}
	}
}

// composeNames adds the composed name of a row that has its columns.
func (d *Draft) composeNames(row []Field, to match.Attributes) {
	if len(d.Composed) == 0 {
		return
	}
	var columns []string
	of := map[string]string{}
	for _, f := range row {
		columns, of[f.Name] = append(columns, f.Name), strings.Join(f.Values, " ")
	}
	for _, c := range d.Composed {
		if c.among(columns) {
			to[c.Attribute] = []string{c.term.compose(func(column string) string { return of[column] })}
		}
	}
}

// sourceNames are names of columns with the source of a row.
var sourceNames = nameSet(`source sources shop store seller sellers merchant retailer supplier vendor site website domain portal provider feed file dataset database catalog catalogue
	quelle shop handler verkaufer lieferant anbieter boutique magasin vendeur fournisseur tienda vendedor proveedor negozio venditore fornitore loja fornecedor winkel verkoper leverancier bron fuente fonte`)

// variantNames are names of columns that say which of several things of one name a row is.
var variantNames = nameSet(`variant variants version edition model size sizes dimension colour color colours colors shade finish flavour flavor scent platform console system format
	binding medium pack packsize package packaging volume capacity memory storage ram dose dosage strength form trim engine fuel material level part number no issue round stage season
	year day weekday date time slot session language lang class distance gender
	variante ausfuhrung grosse farbe geschmack duft plattform einband packung packungsgrosse menge dosis dosierung starke sprache staffel teil band ausgabe runde nummer klasse
	taille couleur coloris parfum gout plateforme reliure conditionnement langue saison tome numero manche classe
	talla tamano color sabor plataforma formato encuadernacion idioma temporada ronda clase
	taglia misura colore gusto piattaforma rilegatura lingua stagione tamanho cor idioma temporada maat kleur smaak taal seizoen deel uitvoering`)
