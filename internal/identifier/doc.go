// SPDX-License-Identifier: Apache-2.0

// Package identifier checks which texts may be used as a name of a record in its source, or of a metric.
//
//	"store 17"            good
//	"store 17 "           begins or ends with white space
//	"store\u200b17"       has the invisible character U+200B
//	"", "\xff", too long  refused as well
//
// Identifiers are opaque and compared byte by byte, without case folding, trimming or normalisation. Two
// identifiers that look the same would name two things without a visible difference. Therefore white space at
// either end is refused, and so are invisible characters anywhere: control and format characters, and line and
// paragraph separators.
//
// # What it does not do
//
// Letters of different scripts also look alike, and so do different encodings of an accent. They are accepted as
// they are, because a program may have generated them and relies on its own bytes.
package identifier
