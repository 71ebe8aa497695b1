// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"math/big"
	"math/bits"
)

// Int128 is a 128-bit sum of 64-bit numbers in two's complement. Fewer than 2^63 of them cannot overflow it, so
// sums within and across cells are exact in any order, and no value stops a follower.
type Int128 struct{ High, Low int64 }

// NewInt128 converts a 64-bit number.
func NewInt128(n int64) Int128 { return Int128{n >> 63, n} }

// Plus returns s + t.
func (s Int128) Plus(t Int128) Int128 {
	low, carry := bits.Add64(uint64(s.Low), uint64(t.Low), 0)
	return Int128{s.High + t.High + int64(carry), int64(low)}
}

// Negative returns -s.
func (s Int128) Negative() Int128 {
	low, borrow := bits.Sub64(0, uint64(s.Low), 0)
	return Int128{-s.High - int64(borrow), int64(low)}
}

// Big returns the sum as a big.Int.
func (s Int128) Big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(s.High), 64)
	return n.Add(n, new(big.Int).SetUint64(uint64(s.Low)))
}

// Float returns the nearest float64.
func (s Int128) Float() float64 {
	f, _ := new(big.Float).SetInt(s.Big()).Float64()
	return f
}

func (s Int128) times(sign int64) Int128 {
	if sign < 0 {
		return s.Negative()
	}
	return s
}

// fits reports whether the sum fits into 64 bits; then Low is its value.
func (s Int128) fits() bool { return s.High == s.Low>>63 }

// format formats the sum as formatNumber does a number.
func (s Int128) format(scale int) string {
	if s.fits() {
		return formatNumber(s.Low, scale)
	}
	return point(s.Big().String(), scale)
}
