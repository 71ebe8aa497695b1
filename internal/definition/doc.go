// SPDX-License-Identifier: Apache-2.0

// Package definition reads hand-written definitions in YAML or JSON, and reports every mistake with its line.
//
//	alarm: kitchen       line 2, hour: want a whole number, not "seven"
//	hour: seven          line 3, wakse: no such word: there are alarm, hour and wakes; did you mean "wakes"?
//	wakse: all           line 4, hour: is given twice, first in line 2: remove one of the two
//	hour: 8
//
// A decoder into structs stops at the first error and reports it in terms of Go types. The author of a definition
// needs all errors at once: which field, in which line, what was expected, and which word was probably meant. So
// the caller lists each [Field] with the place where its value goes. A [Value] of the wrong form records a
// [problem.Problem] and is read as its zero value, and reading continues.
//
// # What is refused
//
// Duplicate fields, of which YAML takes the last; aliases and merged fields, which can expand a short text to a
// huge one; a second document; a text that is too long. Values are taken as written: whether 010 is a number or a
// text is decided by the field.
package definition
