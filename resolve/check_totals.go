// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// totals compares the counts of a cell with a recount in one snapshot. A repair stores the recount.
func (c *checker) totals(ctx context.Context, id cell.ID) error {
	var differs []Difference
	if err := c.view(ctx, id, func(tx storage.Tx) (err error) { differs, err = c.count(ctx, id, tx, false); return err }); err != nil || len(differs) == 0 {
		return err
	}
	if c.Repair {
		c.mu.Lock()
		err := c.quiet(ctx)
		if err == nil {
			err = c.write(ctx, id, func(tx storage.Tx) (err error) { differs, err = c.count(ctx, id, tx, true); return err })
		}
		c.unlock()
		if err != nil {
			return err
		}
	}
	for _, d := range differs {
		c.report(d)
	}
	return nil
}

func (c *checker) count(ctx context.Context, id cell.ID, tx storage.Tx, repair bool) (differs []Difference, err error) {
	row, err := tx.RowsAt(ctx, cell.Total, [][]any{{int64(1)}})
	if err != nil {
		return nil, err
	}
	counts, err := tx.Counts(ctx)
	if err != nil {
		return nil, err
	}
	var is entity.Counts
	if err := eachRow(ctx, tx, "record", func(r []any) {
		if r[7] != nil {
			is.Records++
		}
	}); err != nil {
		return nil, err
	}
	if err := eachRow(ctx, tx, cell.JournaledEntity, func([]any) { is.Entities++ }); err != nil {
		return nil, err
	}
	note := func(what string, stored, want int64) {
		if stored != want {
			differs = append(differs, Difference{
				What: "total", Cell: id, ID: what, Stored: fmt.Sprint(stored), Want: fmt.Sprint(want), Repaired: repair,
			})
		}
	}
	note("records", counts.Records, is.Records)
	note("entities", counts.Entities, is.Entities)
	if repair {
		err = tx.AddCounts(ctx, entity.Counts{Records: is.Records - counts.Records, Entities: is.Entities - counts.Entities})
	}
	if turns := row[0][8].(int64); turns != counts.Merges+counts.Splits {
		differs = append(differs, Difference{
			What: "total", Cell: id, ID: "merges and splits", Stored: fmt.Sprintf("%d and %d, together %d", counts.Merges,
				counts.Splits, turns),
			Want: "numbers that add up", Advice: "they are only displayed: compare with a backup of the cell, and set turns to their sum",
		})
	}
	seq, trimmed := row[0][2].(int64), row[0][3].(int64)
	if trimmed > seq {
		differs = append(differs, Difference{
			What: "total", Cell: id, ID: "trimmed", Stored: fmt.Sprint(trimmed), Want: fmt.Sprintf("at most %d", seq),
			Advice: adviceBackup,
		})
	}
	beyond, err2 := tx.ReadRows(ctx, "change", []any{seq}, 1)
	if err == nil && err2 == nil && len(beyond) > 0 {
		differs = append(differs, Difference{
			What: "total", Cell: id, ID: "seq", Stored: fmt.Sprint(seq),
			Want: fmt.Sprintf("at least %v", beyond[0][0]), Advice: "run locus cell restored",
		})
	}
	if err == nil {
		err = err2
	}
	return differs, err
}

func eachRow(ctx context.Context, tx storage.Tx, table string, take func([]any)) error {
	for after := []any(nil); ; {
		rows, err := tx.ReadRows(ctx, table, after, logPage)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			take(row)
		}
		after = rows[len(rows)-1][:1]
	}
}
