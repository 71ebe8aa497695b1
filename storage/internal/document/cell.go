// SPDX-License-Identifier: Apache-2.0

package document

import (
	"slices"

	"github.com/locus-db/locus/cell"
)

// CellTable is the table of the row with the identity and the head of a cell.
const CellTable = "locus_cell"

// NewCell returns the row of a new cell.
func NewCell(id cell.Identity) []any {
	row := make([]any, len(cellTable.Columns))
	change(row, map[string]any{
		"one": int64(1), "map": id.Map, "gen": int64(id.Cell.Gen), "idx": int64(id.Cell.Index), "lo": id.Lo, "hi": id.Hi, "rules": id.Rules,
	})
	change(row, HeadValues(cell.Head{Incarnation: 1}))
	row[len(row)-1] = cellTable.SumOf(row)
	return row
}

// HeadValues returns the columns of a head.
func HeadValues(h cell.Head) map[string]any {
	return map[string]any{
		"keys": int64(h.Keys), "home": int64(h.Home), "incarnation": int64(h.Incarnation), "epoch": int64(h.Epoch), "known_epoch": int64(h.KnownEpoch),
		"fence": h.Fence, "images": h.Images, "version": h.Rules, "returns": int64(h.Returns), "settled": int64(h.Settled), "move": h.Move,
	}
}

// ChangeCell changes columns of the row as it was read, updates its checksum and returns it. A row whose checksum
// was wrong keeps it, so that a check still finds the damage.
func ChangeCell(row []any, values map[string]any) (sum any) {
	intact := cellTable.Intact(row)
	change(row, values)
	if intact {
		row[len(row)-1] = cellTable.SumOf(row)
	}
	return row[len(row)-1]
}

func change(row []any, values map[string]any) {
	for name, value := range values {
		row[slices.Index(cellTable.Columns, name)] = value
	}
}
