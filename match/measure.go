// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strconv"
	"strings"
)

// measure is a number with a unit in a title: 500 GB.
type measure struct {
	value float64
	unit  string
}

func isNumber(s string) bool {
	if s == "" || !isDigit(s[0]) {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && digits(strings.ReplaceAll(s, ".", ""))
}

// parseMeasure parses a number followed by a unit: 500GB, 7.2MP.
func parseMeasure(chunk string) (m measure, ok bool) {
	chunk = strings.ToLower(strings.TrimSuffix(chunk, "."))
	i := 0
	for i < len(chunk) && (isDigit(chunk[i]) || chunk[i] == '.') {
		i++
	}
	unit := units[strings.TrimPrefix(chunk[i:], "-")]
	if i == 0 || unit == "" {
		return m, false
	}
	value, err := strconv.ParseFloat(chunk[:i], 64)
	return measure{value, unit}, err == nil
}

func isMeasureWord(w string) bool {
	_, ok := parseMeasure(w)
	return ok
}

// contradicts reports whether others have measures of the same unit, none of which agrees.
func (m measure) contradicts(others []measure) bool {
	found := false
	for _, o := range others {
		if o.unit == m.unit {
			if compareQuantities(o.value, m.value) >= quantityNear && (!exactUnits[m.unit] || o.value == m.value) {
				return false
			}
			found = true
		}
	}
	return found
}

// units maps units to a canonical spelling.
var units = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(unitSpellings) {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
}()

const unitSpellings = `gb gbyte gigabyte gigabytes gig
tb terabyte terabytes
mb megabyte megabytes
mp megapixel megapixels mpix
in inch inches
ft foot feet
cm centimeter centimeters
mm millimeter millimeters
oz ounce ounces
lb lbs pound pounds
kg kilogram kilograms
g gram grams
ml milliliter milliliters
l liter liters litre litres
ghz
mhz
hz
w watt watts
v volt volts
mah
pack pk pcs pc ct count pieces
user users
x
rpm
ms
dpi
`

// exactUnits are the units of fixed sizes: another number means another thing.
var exactUnits = map[string]bool{"gb": true, "tb": true, "mb": true, "pack": true, "user": true, "oz": true, "ml": true}
