// SPDX-License-Identifier: Apache-2.0

// Package identifier says which texts may name something: a record in its source, or a metric.
//
//	"store 17"            good
//	"store 17 "           begins or ends with white space
//	"store\u200b17"       holds the character U+200B, which cannot be seen
//	"", "\xff", too long  refused as well
//
// Identifiers are compared byte by byte: nothing in them is folded, trimmed or normalised, and nothing in them
// has a meaning. So two that look alike would be two things, and nobody could see why. Therefore white space
// at either end is refused, and what cannot be seen is refused anywhere: control characters, characters that
// only say how others are shown, and separators of lines and paragraphs.
//
// # What it does not do
//
// Letters of different scripts look alike too, and so do different spellings of one accent. They are taken as
// they come: a program may have made them, which knows its own bytes.
package identifier
