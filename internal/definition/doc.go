// SPDX-License-Identifier: Apache-2.0

// Package definition reads what people define in YAML, of which JSON is a part, and says of each mistake in which
// line it stands.
//
//	alarm: kitchen       line 2, hour: want a whole number, not "seven"
//	hour: seven          line 3, wakse: no such word: there are alarm, hour and wakes; did you mean "wakes"?
//	wakse: everybody     line 4, hour: stands here twice, first in line 2: leave one of the two
//	hour: 8
//
// A decoder into structs answers with the first thing that it does not like, in the words of Go. Who writes a
// definition by hand wants all of it at once: which field, in which line, what was wanted, and which word was
// probably meant. So a definition is walked field by field, by whoever knows what the fields mean; a [Value]
// that is not what was wanted notes a [Problem] and answers with nothing, and the walk goes on.
//
// # What is refused
//
// Fields that stand twice, of which YAML takes the last; aliases and merged fields, with which a short text
// becomes a long one; a second document; a text that is too long. Values are taken as they are written: whether
// 010 is a number or a text is for the field to say.
package definition
