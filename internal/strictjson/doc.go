// SPDX-License-Identifier: Apache-2.0

// Package strictjson reads one JSON document (RFC 8259) and refuses everything that two readers could
// understand in two ways. encoding/json is friendlier than a store of other people's records can
// afford: of a name given twice it takes the last, it fills a field from a name in another case, it
// turns bytes that are not UTF-8 into U+FFFD (so that two keys become one), and it ignores what
// comes after the document.
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
// A Value leaves the decision about types and unknown names to its reader, who knows the field and
// can point at it. Names are compared exactly, after unescaping.
package strictjson
