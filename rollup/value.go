// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Value is the result of a measure.
type Value struct {
	*Measure
	// N is the result of a count, the number of values in an average, or the number of different values of
	// Distinct.
	N int64
	// Number is a minimum or maximum; Sum is a sum or the numerator of an average. Both are in units of the last
	// digit that Scale allows.
	Number int64
	Sum    Int128
	// List holds the largest values, largest first.
	List []int64
	// None reports that there is no value: the average, minimum or maximum of nothing.
	None bool

	// kept counts each value of a multiset, for the values that were read.
	kept map[string]int64
}

// String formats the value for people; "" if there is none.
func (v Value) String() string {
	switch {
	case v.None:
		return ""
	case v.Func == Count || v.Func == Distinct:
		return strconv.FormatInt(v.N, 10)
	case v.Func == Avg:
		return v.average()
	case v.Func == Sum:
		return v.Sum.format(v.Scale)
	case v.Func == Top:
		list := make([]string, len(v.List))
		for i, n := range v.List {
			list[i] = formatNumber(n, v.Scale)
		}
		return strings.Join(list, " ")
	default:
		return formatNumber(v.Number, v.Scale)
	}
}

// average has six more digits than the values.
func (v Value) average() string {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)
	mean := new(big.Rat).SetFrac(v.Sum.Big(), new(big.Int).Mul(big.NewInt(v.N), unit))
	text := strings.TrimSuffix(strings.TrimRight(mean.FloatString(v.Scale+6), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// MarshalJSON writes a number, a list of numbers for Top, or null for none.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case v.Func == Top:
		list := make([]json.Number, len(v.List))
		for i, n := range v.List {
			list[i] = json.Number(formatNumber(n, v.Scale))
		}
		return json.Marshal(list)
	case v.None:
		return []byte("null"), nil
	default:
		return []byte(v.String()), nil
	}
}

// Values holds the values of a group's measures, in the order of their names.
type Values []Value

// MarshalJSON writes an object of measures.
func (vs Values) MarshalJSON() ([]byte, error) {
	object := make(map[string]Value, len(vs))
	for _, v := range vs {
		object[v.Name] = v
	}
	return json.Marshal(object)
}

// Get returns the value of a measure.
func (vs Values) Get(measure string) (Value, bool) {
	i := slices.IndexFunc(vs, func(v Value) bool { return v.Name == measure })
	if i < 0 {
		return Value{}, false
	}
	return vs[i], true
}

// add adds one cell's slot; kept holds the multisets by measure. The caller calls settle after the last add.
func (vs Values) add(d *Definition, s slot, kept []map[string]int64) {
	at, k := slotNumbers, 0
	for i := range d.Measures {
		m := &d.Measures[i]
		if k == len(vs) || vs[k].Name != m.Name { // the measure was not read
			at += m.numbers()
			continue
		}
		v := &vs[k]
		k++
		switch m.Func {
		case Count:
			v.N += s[slotCount]
		case Sum, Avg:
			v.Sum = v.Sum.Plus(s.sum(at))
			if m.Func == Avg {
				v.N += s[at+2]
			}
		default:
			v.keep(kept[i])
		}
		at += m.numbers()
	}
}

func (v *Value) keep(values map[string]int64) {
	if v.kept == nil {
		v.kept = maps.Clone(values)
		return
	}
	for value, n := range values {
		v.kept[value] += n
	}
}

// settle computes the results after the last add.
func (vs Values) settle() {
	for i := range vs {
		switch v := &vs[i]; v.Func {
		case Count, Sum:
		case Avg:
			v.None = v.N == 0
		default:
			v.settle()
		}
	}
}

// settle computes the result from a multiset.
func (v *Value) settle() {
	if v.Func == Distinct {
		v.N = int64(len(v.kept))
		return
	}
	numbers := slices.Sorted(maps.Keys(v.kept))
	if v.Func != Min {
		slices.Reverse(numbers)
	}
	if v.None = len(numbers) == 0 && v.Func != Top; len(numbers) == 0 {
		return
	}
	if v.Func != Top {
		v.Number, _ = readOrdered([]byte(numbers[0]))
		return
	}
	for _, key := range numbers {
		n, _ := readOrdered([]byte(key))
		for range min(v.kept[key], int64(v.K-len(v.List))) {
			v.List = append(v.List, n)
		}
	}
}

// rank returns the number that orders values, nil for none.
func (v Value) rank() *big.Rat {
	switch {
	case v.None:
		return nil
	case v.Func == Count, v.Func == Distinct:
		return new(big.Rat).SetInt64(v.N)
	case v.Func == Avg:
		return new(big.Rat).SetFrac(v.Sum.Big(), big.NewInt(v.N))
	case v.Func == Sum:
		return new(big.Rat).SetInt(v.Sum.Big())
	default:
		return new(big.Rat).SetInt64(v.Number)
	}
}

// compareRank orders by rank, largest first and none last.
func compareRank(a, b Value) int {
	x, y := a.rank(), b.rank()
	if x == nil || y == nil {
		return cmp.Compare(count(x == nil), count(y == nil))
	}
	return y.Cmp(x)
}
