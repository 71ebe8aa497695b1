// SPDX-License-Identifier: Apache-2.0

package match

// dated and quantity are values of TypeDate and TypeNumber. Each is compared with that of the same
// attribute.
type dated struct {
	attribute *Attribute
	date      date
}

type quantity struct {
	attribute *Attribute
	number    float64
}

func (r *Record) addDate(a *Attribute, values []string) {
	for _, raw := range values {
		if d := parseDate(raw); d.valid() {
			r.dates = append(r.dates, dated{a, d})
			return
		}
	}
}

func (r *Record) addNumber(a *Attribute, values []string) {
	for _, raw := range values {
		if n, ok := parseNumber(raw); ok {
			r.numbers = append(r.numbers, quantity{a, n})
			return
		}
	}
}

// compareFacts sets the levels of dates and numbers. Among several attributes the lowest level counts,
// because a kind declares such an attribute as one that different things differ in.
func compareFacts(v *Vector, a, b *Record) {
	least := levelNone
	for _, x := range a.dates {
		for _, y := range b.dates {
			if x.attribute != y.attribute {
				continue
			}
			if l := compareDates(x.date, y.date); l != levelNone && (least == levelNone || l < least) {
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
			if l := compareQuantities(x.number, y.number); least == levelNone || l < least {
				least = l
			}
		}
	}
	v.set(fieldNumber, least)
}
