// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"math"
	"strconv"
	"time"
)

// FormatFloat writes a floating-point number of bits with as few digits as identify it, without an exponent if that is
// short. It reports false for NaN and infinities.
func FormatFloat(f float64, bits int) (string, bool) {
	if math.IsNaN(f) {
		return "", false
	}
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, bits), true
	}
	return strconv.FormatFloat(f, 'f', -1, bits), true
}

// FormatTime writes a time as RFC 3339 does, in UTC, without zeros at the end of the fraction.
func FormatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// FormatLocal writes a time that has no zone.
func FormatLocal(t time.Time) string { return t.Format("2006-01-02T15:04:05.999999999") }
