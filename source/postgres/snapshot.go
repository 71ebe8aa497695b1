// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/locus-db/locus/source"
)

// snapshot reads the rows of the table, in one transaction on a connection of its own.
type snapshot struct {
	conn *pgx.Conn
	read int64
}

func (s *stream) openSnapshot(ctx context.Context) (*snapshot, error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	n := &snapshot{conn: conn}
	for _, sql := range []string{"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", "DECLARE locus NO SCROLL CURSOR FOR SELECT * FROM " + s.table.Sanitize()} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			_ = n.close(ctx) // the error says more
			return nil, fmt.Errorf("read the rows of table %s: %w", s.table.Sanitize(), err)
		}
	}
	return n, nil
}

func (n *snapshot) close(ctx context.Context) error { return n.conn.Close(ctx) }

// rowsOf returns the next rows, and after the last one a marker that ends the snapshot.
func (s *stream) rowsOf(ctx context.Context, limit int) (batch []source.Message, err error) {
	ctx, cancel := patiently(ctx)
	defer cancel()
	found, err := s.snapshot.conn.Query(ctx, fmt.Sprintf("FETCH %d FROM locus", limit), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, fmt.Errorf("read the rows of table %s: %w", s.table.Sanitize(), err)
	}
	defer found.Close()
	for found.Next() {
		object := map[string]any{}
		for i, value := range found.RawValues() {
			field := found.FieldDescriptions()[i]
			object[field.Name] = s.value(field.DataTypeOID, value)
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		batch = append(batch, source.Message{Partition: rows, Offset: s.snapshot.read, Value: text, Time: s.taken})
		s.snapshot.read++
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("read the rows of table %s: %w", s.table.Sanitize(), err)
	}
	if len(batch) == 0 {
		batch = append(batch, source.Message{Partition: rows, Offset: snapshotDone - 1, Marker: true})
		err = s.snapshot.close(ctx)
		s.snapshot = nil
	}
	return batch, err
}

// patience is how long a query may take.
const patience = time.Minute

// patiently returns a context that ends as ctx is cancelled, and not when its time is over: a query that is given up
// breaks its connection, and the rows would begin again.
func patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
}

// value returns the value of a column in JSON: its text, a list of texts, true or false, or nil.
func (s *stream) value(oid uint32, text []byte) any {
	if text == nil {
		return nil
	}
	switch oid {
	case pgtype.BoolOID:
		return string(text) == "t"
	case pgtype.JSONOID, pgtype.JSONBOID:
		if json.Valid(text) {
			return json.RawMessage(append([]byte(nil), text...))
		}
	case pgtype.TextArrayOID, pgtype.VarcharArrayOID:
		var list []string
		if s.types.Scan(oid, pgtype.TextFormatCode, text, &list) == nil {
			return list
		}
	}
	return string(text)
}
