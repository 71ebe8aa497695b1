// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"strconv"
	"strings"
)

// measure is a number with a unit in a title: 500 GB, 0.5 l, size XL.
type measure struct {
	value float64
	unit  string
}

// unit is the unit of a number, in one spelling.
type unit struct {
	name string
	of   string  // the measured quantity, such as volume; "" for a unit that cannot be converted
	base float64 // in the smallest metric unit of the same
}

func isNumber(s string) bool {
	if s == "" || !isDigit(s[0]) {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && digits(strings.ReplaceAll(s, ".", ""))
}

// parseMeasure parses a number followed by a unit: 500GB, 7.2MP, 12-fl.oz.
func parseMeasure(chunk string) (m measure, ok bool) {
	i := 0
	for i < len(chunk) && (isDigit(chunk[i]) || chunk[i] == '.') {
		i++
	}
	if i == 0 || i == len(chunk) {
		return m, false
	}
	name, ok := unitSpellings[chunk[i:]]
	if !ok {
		name, ok = unitSpellings[unitSigns.Replace(strings.ToLower(chunk[i:]))]
	}
	if !ok {
		return m, false
	}
	value, err := strconv.ParseFloat(chunk[:i], 64)
	return measure{value, name}, err == nil
}

var unitSigns = strings.NewReplacer(".", "", "-", "")

// parsePacked parses a number of packages and the content of each: 6x330ml.
func parsePacked(chunk string) (packs, each measure, ok bool) {
	count := number(chunk)
	if count == "" || len(count) > 3 || len(count) == len(chunk) || chunk[len(count)]|0x20 != 'x' {
		return packs, each, false
	}
	if each, ok = parseMeasure(chunk[len(count)+1:]); ok {
		packs, ok = parseMeasure(chunk[:len(count)+1])
	}
	return packs, each, ok
}

func isMeasureWord(w string) bool {
	_, ok := parseMeasure(w)
	return ok
}

// word returns the measure as a word of a text, in a metric unit where it has one: 0.5 l is 500ml.
func (m measure) word() string {
	u := units[m.unit]
	switch m.unit {
	case "l", "cl", "dl":
		m = measure{m.value * u.base, "ml"}
	case "kg", "mg":
		m = measure{m.value * u.base, "g"}
	case "cm", "meter":
		m = measure{m.value * u.base, "mm"}
	case "tb", "mb":
		if m.base() >= 1000 {
			m = measure{m.base() / 1000, "gb"}
		}
	case "gb":
		m.value = m.base() / 1000
	case sizeUnit:
		return clothes[int(m.value)]
	}
	return strconv.FormatFloat(math.Round(m.value*1000)/1000, 'f', -1, 64) + m.unit
}

// base returns the value in the smallest unit. Of memory, a gigabyte has 1000 or 1024 megabytes.
func (m measure) base() float64 {
	u := units[m.unit]
	if u.of == "memory" && math.Mod(m.value, 1024) == 0 {
		m.value *= 1000. / 1024
	}
	return m.value * u.base
}

// is reports whether two measures may be one: equal, or nearly so for units that are rounded, or converted.
func (m measure) is(o measure) bool {
	x, y := units[m.unit], units[o.unit]
	a, b := m.base(), o.base()
	switch {
	case m.unit == o.unit && exactUnits[m.unit]:
		return m.value == o.value
	case m.unit == o.unit:
		return compareQuantities(m.value, o.value) >= quantityNear
	case m.unit == "oz" && y.of == "volume": // of a drink
		a = m.value * units["floz"].base
	case o.unit == "oz" && x.of == "volume":
		b = o.value * units["floz"].base
	case x.of == "" || x.of != y.of:
		return false
	}
	return math.Abs(a-b) <= converted*max(a, b)
}

// converted is the relative difference allowed between a measure and its conversion: 12 oz are 340 or 350 g.
const converted = 0.03

// maxMeasures bounds the measures of a title.
const maxMeasures = 8

// compareSizes compares the measures of two titles. They differ if both use a unit, and no measure in it agrees with
// any of the other title. In different units they differ only if each title has a single measure of the quantity, and
// never as lengths, because a thing has several.
func compareSizes(a, b []measure) level {
	found := levelNone
	for _, x := range a {
		for _, y := range b {
			switch of := units[x.unit].of; {
			case x.is(y):
				found = sizeEqual
			case x.unit == y.unit && !agrees(x.unit, a, b),
				x.unit != y.unit && measured[of] && of == units[y.unit].of && single(a, of) && single(b, of):
				return sizeDifferent
			}
		}
	}
	return found
}

// measured are quantities that a title has once, in any unit.
var measured = wordSet(`memory volume mass power charge`)

// agrees reports whether a measure in a unit agrees with a measure of the other title.
func agrees(unit string, a, b []measure) bool {
	for _, x := range a {
		for _, y := range b {
			if (x.unit == unit || y.unit == unit) && x.is(y) {
				return true
			}
		}
	}
	return false
}

// single reports whether exactly one measure is of a quantity, such as volume.
func single(list []measure, of string) bool {
	n := 0
	for _, m := range list {
		if units[m.unit].of == of {
			n++
		}
	}
	return n == 1
}

// parseUnits reads a line for each unit: its name, the measured quantity, its size in the smallest unit, other
// spellings.
func parseUnits(text string) (all map[string]unit, spellings map[string]string) {
	all, spellings = map[string]unit{}, map[string]string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		u := unit{name: words[0], of: strings.Trim(words[1], "-")}
		u.base, _ = strconv.ParseFloat(words[2], 64)
		all[u.name], spellings[u.name] = u, u.name
		for _, w := range words[3:] {
			spellings[w] = u.name
		}
	}
	return all, spellings
}

var units, unitSpellings = parseUnits(`mb memory 1 megabyte megabytes mo
gb memory 1000 gbyte gigabyte gigabytes gig go
tb memory 1000000 terabyte terabytes
ml volume 1 milliliter milliliters millilitre millilitres millilitros mililitro mililitros
cl volume 10 centiliter centiliters centilitre centilitres
dl volume 100 deciliter deciliters decilitre decilitres
l volume 1000 liter liters litre litres litro litros litri lt ltr
floz volume 29.5735
gal volume 3785.41 gallon gallons
mcg mass 0.000001 microgram micrograms ug
mg mass 0.001 milligram milligrams milligramm
g mass 1 gram grams gr gramm gramme grammes gramos grammi
kg mass 1000 kilogram kilograms kilo kilos kilogramm
oz mass 28.3495 ounce ounces
lb mass 453.592 lbs pound pounds
mm length 1 millimeter millimeters millimetre millimetres
cm length 10 centimeter centimeters centimetre centimetres
meter length 1000 meters metre metres metro metros metri
in length 25.4 inch inches zoll pouces pulgadas pollici
ft length 304.8 foot feet
hz frequency 1
mhz frequency 1000000
ghz frequency 1000000000
w power 1 watt watts
kw power 1000 kilowatt kilowatts
mah charge 1
ah charge 1000
v - 1 volt volts
mp - 1 megapixel megapixels mpix
pack - 1 pk pcs pc ct count pieces stuck stk piezas pezzi stuks sht
user - 1 users
x - 1
rpm - 1
ms - 1
dpi - 1
`)

// exactUnits are the units of fixed sizes: things with different numbers are different.
var exactUnits = wordSet(`gb tb mb pack user oz floz ml cl dl l mg mcg size`)

// clothes are the sizes of clothes as words, from the smallest.
var clothes = strings.Fields(`xxs xs small medium large xl xxl xxxl xxxxl`)

// sizeUnit is the unit of the sizes of clothes.
const sizeUnit = "size"

// clothesSize returns the size that a word is.
func clothesSize(w string) (m measure, ok bool) {
	m = measure{float64(clothesSizes[w] - 1), sizeUnit}
	return m, m.value >= 0
}

var clothesSizes = func() map[string]int {
	m := map[string]int{"xlarge": 6, "2xl": 7, "3xl": 8, "4xl": 9}
	for i, w := range clothes {
		m[w] = i + 1
	}
	return m
}()
