// SPDX-License-Identifier: Apache-2.0

// Package chart draws lines over time, as SVG, as PNG, and in the characters of a terminal.
//
//	Chart ─► scales (scale.go) ─┬─► marks: paths, rules, words (layout.go) ─┬─► SVG (svg.go)
//	                            │                                           └─► PNG (png.go)
//	                            └─► dots of Braille (text.go)
//
// Both pictures come out of the same marks, so they show the same. What is not known is a gap, never a zero, and
// a line with more values than the picture has pixels shows the lowest and the highest of each pixel: no peak
// gets lost. A picture carries its colours as attributes of its elements, never as a style, so that it can be
// shown under the console's policy; which of the two themes it has is its maker's choice. Text is escaped.
//
// It is written by hand because that is all Locus draws: the modules that were tried fill gaps wrongly, label
// every value, and weigh megabytes.
package chart
