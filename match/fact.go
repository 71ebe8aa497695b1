// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// dated and quantity are values of TypeDate and TypeNumber. Each is compared with the value of the same attribute.
type dated struct {
	attribute *Attribute
	date      date
	usual     bool // many records have this day
	told      gaps // gaps that distinguish things of one title
}

type quantity struct {
	attribute *Attribute
	number    float64
	measure   measure // the same with its unit, if it has one
	clock     bool    // a duration such as 3:41
	told      gaps    // gaps that distinguish things of one title
}

func (r *Record) addDate(a *Attribute, values []string) {
	for _, raw := range values {
		if d := parseDate(raw); d.valid() {
			of := dated{attribute: a, date: d, told: r.matcher.told[a]}
			of.usual = r.matcher.terms.usual(of)
			r.dates = append(r.dates, of)
			return
		}
	}
}

func (r *Record) addNumber(a *Attribute, values []string) {
	for _, raw := range values {
		if n, ok := parseNumber(raw); ok {
			m, _ := parseMeasure(strings.ReplaceAll(spellNumbers(strings.TrimSpace(raw)), " ", ""))
			clock := isClock(raw)
			if usual := r.matcher.lasting[a]; usual > 0 && !clock && m.unit == "" {
				n = scaled(n, usual)
			}
			r.numbers = append(r.numbers, quantity{a, n, m, clock, r.matcher.told[a]})
			return
		}
	}
}

// compare compares two numbers, in one unit if both have units of the same: 0.5 l and 500 ml are equal.
func (q quantity) compare(other quantity) level {
	x, y := units[q.measure.unit].of, units[other.measure.unit].of
	switch {
	case x == "" || x != y || q.measure.unit == other.measure.unit:
		return compareQuantities(q.number, other.number)
	case q.measure.is(other.measure):
		return quantityEqual
	}
	return compareQuantities(q.measure.base(), other.measure.base())
}

// compareFacts sets the levels of dates and numbers. Among several attributes the lowest level counts, because a kind
// declares an attribute like that if different things differ in it.
func compareFacts(v *Vector, a, b *Record) {
	least := levelNone
	for _, x := range a.dates {
		for _, y := range b.dates {
			if x.attribute != y.attribute {
				continue
			}
			l := compareDates(x.date, y.date)
			switch {
			case l == dateEqual && x.usual:
				l = dateUsual
			case x.told.has(dateGap(l)):
				l = dateSeries
			}
			if l != levelNone && (least == levelNone || l.asDate() < least.asDate()) {
				least = l
			}
		}
	}
	v.set(fieldDate, least)
	least = levelNone
	for _, x := range a.numbers {
		for _, y := range b.numbers {
			if x.attribute != y.attribute {
				continue
			}
			l := x.compare(y)
			if x.told.has(numberGap(l)) {
				l = quantitySeries
			}
			if least == levelNone || l.asNumber() < least.asNumber() {
				least = l
			}
		}
	}
	v.set(fieldNumber, least)
}

// asDate returns the rank of a level among the levels of a date: an equal usual day ranks like an equal year, and years
// that are near like another day of one year.
func (l level) asDate() level {
	switch l {
	case dateUsual:
		return dateYear
	case dateNextYear, dateFewYears:
		return dateOtherDay
	case dateSeries:
		return levelNone
	}
	return l
}

// asNumber returns the rank of a level among the levels of a number: another number of one series is the lowest.
func (l level) asNumber() level {
	if l == quantitySeries {
		return levelNone
	}
	return l
}
