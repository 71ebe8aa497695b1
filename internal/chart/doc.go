// SPDX-License-Identifier: Apache-2.0

// Package chart draws lines over time as SVG.
//
//	Chart ─► scales (scale.go) ─► marks: paths, rules, words (layout.go) ─► SVG (svg.go)
//
// Unknown values are drawn as gaps, never as zeros. A line with more values than the picture has pixels shows the
// lowest and the highest value of each pixel, so that no peak is lost. Colours are attributes of elements, never
// styles, so that a picture works under the console's content security policy; the caller chooses one of the two
// themes. Text is escaped.
//
// It is hand-written because Locus draws nothing else: the modules that were tried fill gaps wrongly, label every
// value, and weigh megabytes.
package chart
