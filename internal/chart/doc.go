// SPDX-License-Identifier: Apache-2.0

// Package chart draws lines over time as SVG.
//
//	Chart ─► scales (scale.go) ─► marks: paths, rules, words (layout.go) ─► SVG (svg.go)
//
// What is not known is a gap, never a zero, and a line with more values than the picture has pixels shows the lowest
// and the highest of each pixel: no peak gets lost. A picture carries its colours as attributes of its elements,
// never as a style, so that it can be shown under the console's policy; which of the two themes it has is its
// maker's choice. Text is escaped.
//
// It is written by hand because that is all Locus draws: the modules that were tried fill gaps wrongly, label
// every value, and weigh megabytes.
package chart
