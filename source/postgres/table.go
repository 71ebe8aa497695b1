// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/source"
)

// examine checks whether changes of the table identify their row.
func (s *stream) examine(ctx context.Context) error {
	var kind, identity string
	err := s.conn.QueryRow(ctx, `SELECT oid, relkind::text, relreplident::text FROM pg_class WHERE oid = to_regclass($1)`,
		s.table.Sanitize()).Scan(&s.oid, &kind, &identity)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("there is no table %s, or the role may not see it", s.table.Sanitize())
	case err != nil:
		return fmt.Errorf("look for table %s: %w", s.table.Sanitize(), err)
	case kind == "p":
		s.partitioned = true
		return s.examinePartitions(ctx)
	case kind != "r":
		return fmt.Errorf("%w: %s is not an ordinary table", source.ErrStop, s.table.Sanitize())
	}
	switch condition := map[string]string{"d": "indisprimary", "i": "indisreplident"}[identity]; {
	case condition != "":
		err = s.readKey(ctx, condition)
	case identity == "f":
		return nil
	}
	if err == nil && len(s.key) == 0 {
		err = fmt.Errorf("%w: table %s has no primary key, so its changes do not say which row they are about: give it one, or ALTER TABLE ... REPLICA IDENTITY FULL", source.ErrStop, s.table.Sanitize())
	}
	return err
}

// examinePartitions does the same for a partitioned table, whose changes have the identity of the partition.
func (s *stream) examinePartitions(ctx context.Context) error {
	if err := s.readKey(ctx, "indisprimary"); err != nil {
		return err
	}
	enough := []string{"f"}
	if len(s.key) > 0 { // which every partition has too
		enough = append(enough, "d")
	}
	var partition string
	err := s.conn.QueryRow(ctx, `SELECT relid::regclass::text FROM pg_partition_tree(to_regclass($1)) t JOIN pg_class c ON c.oid = t.relid
		WHERE isleaf AND NOT relreplident::text = ANY ($2) LIMIT 1`, s.table.Sanitize(), enough).Scan(&partition)
	switch {
	case err == nil && len(s.key) == 0:
		return fmt.Errorf("%w: table %s has no primary key, so the changes of partition %s do not say which row they are about: give the table one, or ALTER TABLE %s REPLICA IDENTITY FULL, for each partition",
			source.ErrStop, s.table.Sanitize(), partition, partition)
	case err == nil:
		return fmt.Errorf("%w: the changes of partition %s do not have the primary key of table %s: ALTER TABLE %s REPLICA IDENTITY DEFAULT", source.ErrStop, partition, s.table.Sanitize(), partition)
	case !errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("look for the partitions of table %s: %w", s.table.Sanitize(), err)
	}
	return nil
}

// readKey reads the columns of the primary key, or of the index of the replica identity.
func (s *stream) readKey(ctx context.Context, condition string) error {
	key, err := s.conn.Query(ctx, `SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
		WHERE i.indrelid = to_regclass($1) AND i.`+condition, s.table.Sanitize())
	if err == nil {
		s.key, err = pgx.CollectRows(key, pgx.RowTo[string])
	}
	if err != nil {
		return fmt.Errorf("read the key of table %s: %w", s.table.Sanitize(), err)
	}
	return nil
}

// publish creates the publication, which has the name of the slot, unless it exists. Changes of partitions are
// published as changes of the table.
func (s *stream) publish(ctx context.Context) error {
	var found, has, asTable bool
	err := s.conn.QueryRow(ctx, `SELECT count(*) > 0, coalesce(bool_or(puballtables OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = $2)), false),
		coalesce(bool_or((to_jsonb(p)->>'pubviaroot')::boolean), false) FROM pg_publication p WHERE pubname = $1`, s.slot, s.oid).Scan(&found, &has, &asTable)
	switch {
	case err != nil:
		return fmt.Errorf("look for publication %s: %w", s.slot, err)
	case found && !has:
		return fmt.Errorf("%w: publication %s exists without table %s: add the table, or give the source another slot with &slot=NAME", source.ErrStop, s.slot, s.table.Sanitize())
	case found && s.partitioned && !asTable:
		return fmt.Errorf("%w: publication %s has the changes of table %s as those of its partitions: ALTER PUBLICATION %s SET (publish_via_partition_root = true)", source.ErrStop, s.slot, s.table.Sanitize(), s.slot)
	case found:
		return nil
	}
	sql := "CREATE PUBLICATION " + pgx.Identifier{s.slot}.Sanitize() + " FOR TABLE " + s.table.Sanitize()
	if s.partitioned {
		sql += " WITH (publish_via_partition_root = true)"
	}
	if _, err := s.conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("create publication %s, as the owner of the table can: %w", s.slot, err)
	}
	return nil
}
