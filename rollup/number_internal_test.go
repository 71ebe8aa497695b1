// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"math"
	"math/big"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		scale int
		want  int64
		ok    bool
	}{
		{"0", 0, 0, true},
		{"-0", 2, 0, true},
		{"007", 0, 7, true},
		{"1.5", 2, 150, true},
		{"1.5000", 1, 15, true},
		{"-0.05", 2, -5, true},
		{"9223372036854775807", 0, math.MaxInt64, true},
		{"-9223372036854775808", 0, math.MinInt64, true},
		{"-9.223372036854775808", 9, 0, false}, // too many digits
		{"9223372036854775808", 0, 0, false},
		{"922337203685477581", 1, 0, false},
		{"1.25", 1, 0, false},
		{"1.", 1, 0, false},
		{".5", 1, 0, false},
		{"+1", 0, 0, false},
		{"--1", 0, 0, false},
		{"1e3", 0, 0, false},
		{"1 ", 0, 0, false},
		{"1_000", 0, 0, false},
		{"٣", 0, 0, false},
		{"-", 0, 0, false},
		{"", 0, 0, false},
	} {
		if n, ok := parseNumber(c.text, c.scale); ok != c.ok || ok && n != c.want {
			t.Errorf("parseNumber(%q, %d) = %d, %v", c.text, c.scale, n, ok)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     int64
		scale int
		want  string
	}{
		{0, 0, "0"},
		{0, 9, "0"},
		{150, 2, "1.5"},
		{-5, 2, "-0.05"},
		{100, 2, "1"},
		{math.MinInt64, 0, "-9223372036854775808"},
		{math.MinInt64, 9, "-9223372036.854775808"},
	} {
		if got := formatNumber(c.n, c.scale); got != c.want {
			t.Errorf("formatNumber(%d, %d) = %s, want %s", c.n, c.scale, got, c.want)
		}
	}
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// checkNumber compares parseNumber with math/big.
func checkNumber(t interface{ Fatalf(string, ...any) }, text string, scale int) {
	var want int64
	fits := decimal.MatchString(text)
	if fits {
		r, _ := new(big.Rat).SetString(text)
		r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
		if fits = r.IsInt() && r.Num().IsInt64(); fits {
			want = r.Num().Int64()
		}
	}
	n, ok := parseNumber(text, scale)
	if n != want && fits || ok != fits {
		t.Fatalf("parseNumber(%q, %d) = %d, %v, want %d, %v", text, scale, n, ok, want, fits)
	}
	if again, ok := parseNumber(formatNumber(n, scale), scale); fits && (again != n || !ok) {
		t.Fatalf("%d at %d is written %q, which is %d, %v", n, scale, formatNumber(n, scale), again, ok)
	}
}

func TestParseNumber_EqualsBig(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(rapid.StringMatching(`-?[0-9]{1,22}(\.[0-9]{1,12})?`), rapid.StringMatching(`[-.0-9]{0,6}`))
	rapid.Check(t, func(t *rapid.T) {
		checkNumber(t, texts.Draw(t, "text"), rapid.IntRange(0, maxScale).Draw(t, "scale"))
	})
}

func FuzzParseNumber(f *testing.F) {
	f.Add("-12.50", 2)
	f.Add("00000000000000000000000001", 9)
	f.Fuzz(func(t *testing.T, text string, scale int) {
		if scale >= 0 && scale <= maxScale && len(text) < 1000 {
			checkNumber(t, text, scale)
		}
	})
}

func TestBound_ComparesAsNumbersDo(t *testing.T) {
	t.Parallel()
	texts := rapid.StringMatching(`-?0{0,2}[0-9]{1,3}(\.[0-9]{1,3}0{0,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		x, y := texts.Draw(t, "x"), texts.Draw(t, "y")
		a, okA := parseBound(x)
		b, okB := parseBound(y)
		r, _ := new(big.Rat).SetString(x)
		s, _ := new(big.Rat).SetString(y)
		if !okA || !okB || a.compare(b) != r.Cmp(s) {
			t.Fatalf("%s and %s compare as %d, want %d", x, y, a.compare(b), r.Cmp(s))
		}
	})
}

func TestOrdered_BytesAreOrderedAsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		x, y := appendOrdered(nil, a), appendOrdered(nil, b)
		if n, ok := readOrdered(x); n != a || !ok {
			t.Fatalf("%d is read as %d, %v", a, n, ok)
		}
		if (bytes.Compare(x, y) < 0) != (a < b) {
			t.Fatalf("%d and %d are %x and %x", a, b, x, y)
		}
	})
}

func TestInt128_EqualsBig(t *testing.T) {
	t.Parallel()
	numbers := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1}))
	rapid.Check(t, func(t *rapid.T) {
		var got Int128
		want := new(big.Int)
		for range rapid.IntRange(0, 20).Draw(t, "numbers") {
			n, sign := numbers.Draw(t, "n"), rapid.SampledFrom([]int64{1, -1}).Draw(t, "sign")
			got = got.Plus(NewInt128(n).times(sign))
			want.Add(want, new(big.Int).Mul(big.NewInt(n), big.NewInt(sign)))
		}
		if got.Big().Cmp(want) != 0 || got.fits() != want.IsInt64() || got.format(0) != want.String() {
			t.Fatalf("the sum is %s (%+v), want %s", got.format(0), got, want)
		}
		if nothing := got.Plus(got.Negative()); nothing != (Int128{}) {
			t.Fatalf("%s less itself is %s", want, nothing.format(0))
		}
	})
}
