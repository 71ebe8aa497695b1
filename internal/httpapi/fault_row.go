// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"

	"github.com/locus-db/locus/internal/bulk"
)

// OfRow converts a fault of a record to the error of the row of a file that it was made of, with all details.
func (f *Fault) OfRow(row *bulk.Row) *bulk.RowError {
	reason := f.Detail
	for i, more := range f.Errors {
		if i > 0 {
			reason += "; " + more.Detail
		}
	}
	return &bulk.RowError{Line: row.Line, Lines: row.Lines, Source: row.Source, Code: string(f.Code),
		Pointer: flatPointer(f.Pointer), Reason: reason, Row: row.Flat()}
}

// flatPointer converts a pointer of the API to one of a row: /records/7/attributes/phones/0 becomes /phones/0. A
// pointer to all attributes becomes one to the row.
func flatPointer(pointer string) string {
	if rest, ok := strings.CutPrefix(pointer, "/records/"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		pointer = "/" + rest
	}
	if rest, ok := strings.CutPrefix(pointer, "/attributes"); ok && (rest == "" || rest[0] == '/') {
		pointer = rest
	}
	return strings.TrimSuffix(pointer, "/")
}
