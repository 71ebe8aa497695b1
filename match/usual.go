// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// A value that many records have for an unrelated reason is little evidence if two records share it: the first of
// January where only the year was known, a day that a form suggested, the mailbox of an office. They are counted with
// the words of names, and stored under hashes of their own in the same tables; a table from before matcher 9 has none.

const (
	// usualDay is the factor above an even share of the year from which a day is usual: one in 91 records. Then more
	// than rareToken records have the month and the day, whatever the year.
	usualDay = 4
	// usualDate is the share of the records, as one in so many, above which a whole date is usual: 9 bits.
	usualDate = 512
)

// datesCounted is the hash under which a table has the number of records whose days it counts.
var datesCounted = textHash("\x00days")

const (
	daySalt = 0x9e3779b97f4a7c15
	boxSalt = 0xc2b2ae3d27d4eb4f
)

// days returns the hashes of a whole date of an attribute and of its day of the year.
func (d dated) days() (whole, day uint64) {
	of := textHash(d.attribute.Name)
	inYear := uint64(d.date.month)<<8 | uint64(d.date.day)
	return of ^ (uint64(d.date.year)<<16|inYear)*daySalt, of ^ inYear*daySalt
}

// dayCount counts the days of one attribute.
type dayCount struct {
	dates      uint32
	whole, day map[uint64]uint32 // by hash
}

// dayCounts maps the names of attributes to the counts of their days.
type dayCounts map[string]*dayCount

func (c dayCounts) add(d dated) {
	if d.date.day == 0 {
		return
	}
	of := c[d.attribute.Name]
	if of == nil {
		of = &dayCount{whole: map[uint64]uint32{}, day: map[uint64]uint32{}}
		c[d.attribute.Name] = of
	}
	whole, day := d.days()
	of.dates++
	of.whole[whole]++
	of.day[day]++
}

// addDays adds the usual days to the table, and the number of days that were counted.
func (p *TermFrequencies) addDays(counts dayCounts) {
	dates := uint32(0)
	add := func(of map[uint64]uint32, least float64) {
		for h, n := range of {
			if n > rareToken && float64(n) > least {
				p.tokens[h] = n
			}
		}
	}
	for _, of := range counts {
		dates += of.dates
		add(of.whole, float64(of.dates)/usualDate)
		add(of.day, float64(of.dates)/365.25*usualDay)
	}
	if dates > 1 {
		p.tokens[datesCounted] = dates
	}
}

// usual reports whether far more records have a day than chance would give. Without statistics only the first of
// January is usual.
func (p *TermFrequencies) usual(d dated) bool {
	if d.date.day == 0 {
		return false
	}
	if p.tokens[datesCounted] < fewCounted {
		return d.date.month == 1 && d.date.day == 1
	}
	whole, day := d.days()
	return p.tokens[whole] > 0 || p.tokens[day] > 0
}

// officeBoxes are mailboxes of a firm, in English, German, French, Spanish, Italian, Portuguese and Dutch.
var officeBoxes = func() map[string]bool {
	boxes := map[string]bool{}
	for box := range strings.FieldsSeq(`
		accounting accounts admin administration administracion administracao amministrazione bestellung billing booking bookings
		buchhaltung buero bureau commande comercial commercial commerciale compras compta comptabilite contabilidad contabilita
		contact contacto contato contatti correo customerservice direction direccion direzione einkauf empfang enquiries enquiry
		facturacion hello help helpdesk hola hr info information informacion informazioni inkoop inquiries invoices jobs kontakt
		mail marketing noreply no-reply office oficina orders personal post postmaster praxis purchasing rechnung recepcion
		reception reservas reservation reservations reservierung sales secretaria secretariat sekretariat segreteria service
		servicio shop support team ufficio vendas ventas verkauf verkoop vertrieb verwaltung webmaster zentrale`) {
		boxes[box] = true
	}
	return boxes
}()

// officeBox reports whether a mailbox belongs to a firm.
func officeBox(email string) bool {
	box, _, _ := strings.Cut(email, "@")
	return officeBoxes[box]
}

func boxHash(email string) uint64 { return textHash(email) ^ boxSalt }
