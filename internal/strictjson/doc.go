// SPDX-License-Identifier: Apache-2.0

// Package strictjson reads one JSON document (RFC 8259) and rejects everything that two parsers could understand
// differently. encoding/json is too lenient for a store of other people's records: it takes the last of duplicate
// names, matches field names case-insensitively, replaces invalid UTF-8 by U+FFFD (so that two keys become one), and a
// Decoder ignores what follows the document.
//
//	bytes ──► Parse ───────────────────────────────┐
//	          UTF-8, surrogates        ErrUTF8     │ all of it, before anything is decoded;
//	          grammar, number length   ErrSyntax   │ linear in the input; grammar, surrogates
//	          depth 32                 ErrDepth    │ and names by jsontext, the limits here
//	          names: 256, each once    ErrDuplicate│
//	          one document             ErrTrailing │
//	                                               ▼
//	      Value ──► Members, Items, Text, Number     slices of the same bytes: what is not
//	                                                 looked at is never copied
//
// A Value leaves types and unknown names to its caller, which knows the field and can point at it. Names are compared
// exactly, after unescaping.
package strictjson
