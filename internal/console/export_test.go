// SPDX-License-Identifier: Apache-2.0

package console

// Formats and geometry are easier to test without a page.
var (
	Count   = count
	Rate    = rate
	Percent = percent
	Bytes   = size
	Odds    = odds
	Quote   = quote
	Band    = band
	Fill    = fill

	StartsIn = startsIn
	Load     = load
	NewStrip = newStrip

	Condition   = condition
	MeasureText = measure
	Written     = written
	Behind      = behind
	Less        = less
)

// Even is how full a cell is drawn that holds its even share.
const Even = ringEven
