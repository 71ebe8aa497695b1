// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// check rejects rows that the server would reject, with the same code and by the same kind. Whether a time is in the
// future is decided by the server's clock, if the row is sent.
func (im *importer) check(row *bulk.Row) *bulk.RowError {
	if !im.flags.dryRun {
		return im.checkAt(row, endOfTime)
	}
	return im.checkAt(row, im.now())
}

// checkAt is check at a time.
func (im *importer) checkAt(row *bulk.Row, now time.Time) *bulk.RowError {
	in := input(row)
	if kind := im.kind(row.Kind); kind == nil {
		return &bulk.RowError{Line: row.Line, Lines: row.Lines, Code: "invalid", Pointer: "/kind",
			Reason: fmt.Sprintf("there is no kind %.64q", row.Kind), Row: row.Flat()}
	} else if f := in.Check(kind, now); f != nil {
		return f.OfRow(row)
	}
	return nil
}

func (im *importer) kind(name string) *match.Schema {
	for _, kind := range im.kinds {
		if name == "" || kind.Kind == name {
			return kind
		}
	}
	return nil
}

// endOfTime is later than every RFC 3339 time.
var endOfTime = time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)
