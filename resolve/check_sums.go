// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// skipped is how much the numbers of a log rise when a cell continues from a copy of itself; see
// cell.Store.Skip.
const skipped = 1 << 20

// adviceOf is the advice for a row with a wrong checksum, by table.
var adviceOf = map[string]string{
	"record":            "put the record again from its source, erase it first if that is stale, or restore the row from a backup of the cell",
	"decision":          "repeat the decision, or restore the row from a backup of the cell",
	"change":            "readers of the log begin again; run locus rollup verify",
	"definition":        "define the kind again, or restore the row from a backup of the cell",
	"rollup":            "define the rollup again, or restore the row from a backup of the cell",
	"rollup_generation": "run locus rollup rebuild",
	"counter_key":       "a repeated batch with this key may count twice, or be refused; the row is deleted within days",
	"counter_producer":  "the next batch of this client may count twice, or be refused; each batch rewrites the row",
	"audit":             "it was changed: compare with an export of the log, or with a backup of the cell",
	"posting_chunk":     adviceMend,
	"posting_state":     adviceMend,
	"locus_cell":        "restore the row from a backup of the cell, and set its sum to that of the stored values, which locus check prints",
	"locus_map":         "see locus cell list; a growth, or a restart, writes it again",
	"locus_filter":      "delete the row: lookups read the cell until the next growth builds the filter again",
	"locus_witness":     "the next write to that cell writes it again",
	"locus_lease":       "the next process that takes the lease writes it again",
}

const adviceMend = "run locus check --repair: it drops the row and writes the postings of its records again"

// sums compares the rows of a cell with their checksums and looks for gaps in the log, which a checksum
// cannot detect.
func (c *checker) sums(ctx context.Context, id cell.ID) error {
	var tables []cell.Table
	if err := c.view(ctx, id, func(tx storage.Tx) error { tables = tx.Summed(); return nil }); err != nil {
		return err
	}
	n := 0
	for _, table := range tables {
		last, given := int64(-1), int64(0) // last change before the page; highest number of a record or metric
		for after := []any(nil); ; {
			var rows [][]any
			if err := c.view(ctx, id, func(tx storage.Tx) (err error) {
				if rows, err = tx.ReadRows(ctx, table.Name, after, checkPage); err == nil && table.Name == "change" {
					last, err = c.gaps(ctx, tx, id, last, rows)
				}
				return err
			}); err != nil {
				return err
			}
			if len(rows) == 0 {
				if err := c.given(ctx, id, table.Name, given); err != nil {
					return err
				}
				break
			}
			given, _ = rows[len(rows)-1][0].(int64)
			for _, row := range rows {
				if table.Intact(row) {
					continue
				}
				d := c.altered(id, table, row)
				if c.Repair && d.Advice == adviceMend {
					if err := c.mendPostings(ctx, id); err != nil {
						return err
					}
					d.Advice, d.Repaired = "", true
				}
				c.report(d)
			}
			after, n = rows[len(rows)-1][:table.Key], n+len(rows)
			if err := c.tell(Progress{Cell: id, Step: "checksums", Rows: n}); err != nil {
				return err
			}
		}
	}
	return nil
}

// altered returns the difference for a row with a wrong checksum.
func (c *checker) altered(id cell.ID, table cell.Table, row []any) Difference {
	var key []string
	for _, v := range row[:table.Key] {
		if b, ok := v.([]byte); ok {
			v = fmt.Sprintf("%x", b)
		}
		key = append(key, fmt.Sprint(v))
	}
	if table.Name == "record" {
		c.damaged[entity.PUID(row[0].(int64))] = true
		key = append(key, refOf(row))
	}
	advice := adviceOf[table.Name]
	if advice == "" {
		advice = adviceBackup
	}
	want := "values with a checksum: it is lost"
	if sum := row[len(row)-1]; sum != nil {
		want = fmt.Sprintf("those of %d, as they were written", sum)
	}
	return Difference{
		What: "checksum", Cell: id, ID: table.Name + " " + strings.Join(key, " "), Advice: advice,
		Stored: fmt.Sprintf("values whose checksum is %d", table.SumOf(row)), Want: want,
	}
}

// mendPostings drops the damaged postings of a cell. The step of the records finds those to post again.
func (c *checker) mendPostings(ctx context.Context, id cell.ID) error {
	c.mu.Lock()
	defer c.unlock()
	if err := c.acquireLease(ctx, 2*leasePatience); err != nil {
		return err
	}
	defer c.release(ctx)
	return c.write(ctx, id, func(tx storage.Tx) error { return tx.MergePostings(ctx, true) })
}

// gaps finds missing changes: after the last change of the previous page or the trimmed ones, within a page, and up to
// the last one that the cell has counted. It returns the last change of the page. Counts and rows are read in one
// snapshot.
func (c *checker) gaps(ctx context.Context, tx storage.Tx, id cell.ID, last int64, rows [][]any) (int64, error) {
	bounds, err := tx.Bounds(ctx)
	if err != nil {
		return last, err
	}
	trimmed := int64(bounds.Trimmed)
	note := func(of, stored, want string) {
		c.report(Difference{What: "change", Cell: id, ID: of, Stored: stored, Want: want, Advice: adviceOf["change"]})
	}
	for _, row := range rows {
		seq := row[0].(int64)
		last = max(last, trimmed)
		switch {
		case seq <= trimmed:
			note(fmt.Sprint(seq), "in the log", fmt.Sprintf("no row: it is trimmed up to %d", trimmed))
		case (seq-last-1)%skipped != 0:
			note(fmt.Sprint(last+1), "no row", fmt.Sprintf("a change: %d is in the log", seq))
		}
		last = max(last, seq)
	}
	if end := int64(bounds.Last); len(rows) == 0 && (end-max(last, trimmed))%skipped != 0 {
		note(fmt.Sprint(end), "no row",
			fmt.Sprintf("a change: the cell has counted it, and %d is in the log", max(last, trimmed)))
	}
	return last, nil
}

// given compares the highest number of records or metrics with the amount of numbers that the cell has
// allocated.
func (c *checker) given(ctx context.Context, id cell.ID, table string, highest int64) error {
	lo, hi := c.opts.Cells.Map().PuidRange(id)
	switch table {
	case "record":
		if highest <= lo || highest > hi {
			return nil // no record, or one of another cell
		}
		highest -= lo
	case "metric":
	default:
		return nil
	}
	return c.view(ctx, id, func(tx storage.Tx) error {
		total, err := tx.RowsAt(ctx, cell.Total, [][]any{{int64(1)}})
		if err != nil {
			return err
		}
		if used := total[0][1].(int64); highest > used {
			c.report(Difference{
				What: "total", Cell: id, ID: "used", Stored: fmt.Sprintf("%d numbers were given", used),
				Want: fmt.Sprintf("at least %d", highest), Advice: "run locus cell restored",
			})
		}
		return nil
	})
}
