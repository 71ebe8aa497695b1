// SPDX-License-Identifier: Apache-2.0

// Package term formats output for terminals and pipes: tables, a progress line, a little colour, and untrusted text
// that must not control the terminal.
//
//	           a terminal                     a pipe
//	Table      aligned columns, bold header   TSV with a header
//	Progress   one line, written over         a line every five seconds
//	Escape     the same in both: control and format characters become \n, \t, \x1b, \u202e
//
// The caller chooses columns and texts; this package has nothing specific to Locus.
package term
