// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/internal/document"
)

// Tidy does nothing, because the server does such work itself.
func (c *Cell) Tidy(ctx context.Context) (bool, error) { return false, ctx.Err() }

// Vacuum merges the postings, whose runs keep removed ones, while writers wait. Then it rewrites the
// tables that held content one after the other; each is locked while it is rewritten, the others stay available. The
// server's write-ahead log is overwritten in time, sooner after a checkpoint, which Vacuum requests if the role may.
func (c *Cell) Vacuum(ctx context.Context) error {
	if err := c.Exclusive(ctx, func(tx storage.Tx) error { return tx.MergePostings(ctx, false) }); err != nil {
		return fmt.Errorf("vacuum cell %s: %w", c, err)
	}
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	on, err := c.acquire(ctx, false)
	if err != nil {
		return fmt.Errorf("vacuum cell %s: %w", c, err)
	}
	defer c.release(on, false)
	if err := on.settle(ctx); err != nil {
		return fmt.Errorf("vacuum cell %s: %w", c, err)
	}
	send := func(sql string) error {
		_, err := on.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	if err := send("SET statement_timeout = 0"); err != nil { // the time grows with the table
		return fmt.Errorf("vacuum cell %s: %w", c, err)
	}
	defer func() { _, _ = on.Exec(context.WithoutCancel(ctx), "RESET statement_timeout") }()
	tables := []string{"entity", "locus_journal"}
	for _, table := range document.Tables() {
		if table.Name != cell.Total && !strings.HasPrefix(table.Name, "counter_") && !strings.HasPrefix(table.Name, "gauge_") {
			tables = append(tables, table.Name)
		}
	}
	for _, table := range tables {
		if err := send("VACUUM (FULL) " + table); err != nil {
			return fmt.Errorf("vacuum cell %s: %s: %w", c, table, err)
		}
	}
	if err := send("CHECKPOINT"); err != nil && state(err) != "42501" {
		return fmt.Errorf("vacuum cell %s: checkpoint: %w", c, err)
	}
	return nil
}
