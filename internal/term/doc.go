// SPDX-License-Identifier: Apache-2.0

// Package term writes for people and for pipes: tables, a progress line, a little colour, and data
// that cannot drive a terminal.
//
//	           a terminal                     a pipe
//	Table      aligned columns, bold header   TSV with a header
//	Progress   one line, written over         a line every five seconds
//	Escape     the same in both: control and format characters become \n, \t, \x1b, \u202e
//
// What a column or a line says is the caller's; this package knows nothing about Locus.
package term
