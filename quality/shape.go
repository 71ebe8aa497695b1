// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/locus-db/locus/entity"
)

// Shape is the pattern of many values: each digit is a 9, consecutive letters are A, Aa or a, consecutive blanks are
// one. Other characters stay.
type Shape struct {
	Shape  string `json:"shape"`
	Values int    `json:"values"`
	// Example is the first value of this shape that was found, Record the one that has it.
	Example string     `json:"example"`
	Record  entity.Ref `json:"record"`
}

const (
	maxShape  = 40 // signs of a shape; a longer one ends with …
	maxShapes = 5  // of an attribute, and odd ones
	// usualShapes is how many of the most frequent shapes need usualShare of at least minValues values, so that others
	// are odd. Each odd one has at most oddShare of the values.
	usualShapes = 3
	usualShare  = .9
	oddShare    = .01
	minValues   = 20
)

// shapeOf returns the shape of a value.
func shapeOf(value string) string {
	var b strings.Builder
	n := 0
	upper, lower, blank := false, false, false
	letters := func() {
		switch {
		case upper && lower:
			b.WriteString("Aa")
		case upper:
			b.WriteByte('A')
		case lower:
			b.WriteByte('a')
		}
		if upper || lower {
			n++
		}
		upper, lower = false, false
	}
	for _, r := range value {
		if n >= maxShape {
			return b.String() + "…"
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			upper = upper || unicode.IsUpper(r)
			lower = lower || !unicode.IsUpper(r)
			blank = false
			continue
		}
		letters()
		switch space := unicode.IsSpace(r); {
		case space && blank:
			continue
		case space:
			b.WriteByte(' ')
			blank = true
		case unicode.IsDigit(r):
			b.WriteByte('9')
			blank = false
		default:
			b.WriteRune(r)
			blank = false
		}
		n++
	}
	letters()
	return b.String()
}

// shapes counts the shapes of values.
type shapes map[string]*Shape

func (s shapes) add(value string, of entity.Ref) {
	shape := shapeOf(value)
	if s[shape] == nil {
		s[shape] = &Shape{Shape: shape, Example: value, Record: of}
	}
	s[shape].Values++
}

// told returns the most frequent shapes, and the odd ones with the number of their values.
func (s shapes) told(values int) (usual, odd []Shape, oddValues int) {
	all := make([]Shape, 0, len(s))
	for _, shape := range s {
		all = append(all, *shape)
	}
	slices.SortFunc(all, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Values, a.Values), cmp.Compare(a.Shape, b.Shape))
	})
	usual, odd = slices.Clone(all[:min(len(all), maxShapes)]), []Shape{}
	common := 0
	for _, shape := range usual[:min(len(usual), usualShapes)] {
		common += shape.Values
	}
	if values < minValues || float64(common) < usualShare*float64(values) {
		return usual, odd, 0
	}
	for _, shape := range slices.Backward(all) { // the rarest first
		if float64(shape.Values) > max(1, oddShare*float64(values)) {
			break
		}
		oddValues += shape.Values
		if len(odd) < maxShapes {
			odd = append(odd, shape)
		}
	}
	return slices.DeleteFunc(usual, func(shape Shape) bool { return slices.Contains(odd, shape) }), odd, oddValues
}
