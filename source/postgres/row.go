// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// unchanged marks a long value that an update does not repeat.
const unchanged = pglogrepl.TupleDataTypeToast

// object returns a row. Long values that an update does not repeat are taken from the previous version of the row, or
// else from the table's current one. It returns nil if the table no longer has the row.
func (s *stream) object(ctx context.Context, of uint32, old, is *pglogrepl.TupleData) (map[string]any, error) {
	relation, err := s.related(of, is)
	if err != nil {
		return nil, err
	}
	object, missing := map[string]any{}, false
	for i, c := range is.Columns {
		if c.DataType == unchanged && old != nil && old.Columns[i].DataType == pglogrepl.TupleDataTypeText {
			c = old.Columns[i]
		}
		if missing = missing || c.DataType == unchanged; c.DataType != unchanged {
			object[relation.Columns[i].Name] = s.text(relation, i, c)
		}
	}
	if !missing {
		return object, nil
	}
	return s.now(ctx, relation, object)
}

func (s *stream) related(of uint32, tuple *pglogrepl.TupleData) (*pglogrepl.RelationMessage, error) {
	relation := s.relation[of]
	if relation == nil || tuple == nil || len(tuple.Columns) != len(relation.Columns) {
		return nil, errors.New("a change is of a table that was not described")
	}
	return relation, nil
}

func (s *stream) text(relation *pglogrepl.RelationMessage, i int, c *pglogrepl.TupleDataColumn) any {
	if c.DataType != pglogrepl.TupleDataTypeText {
		return nil
	}
	return s.value(relation.Columns[i].DataType, c.Data)
}

// now returns a row as the table has it now.
func (s *stream) now(ctx context.Context, relation *pglogrepl.RelationMessage,
	known map[string]any) (map[string]any, error) {
	var where []string
	var values [][]byte
	for _, c := range s.key {
		values = append(values, []byte(fmt.Sprint(known[c])))
		where = append(where, fmt.Sprintf("%s = $%d", pgx.Identifier{c}.Sanitize(), len(values)))
	}
	if len(where) == 0 {
		return nil, errors.New("an update leaves out a long value, and the table has no key to read it by")
	}
	ctx, cancel := patiently(ctx)
	defer cancel()
	result := s.conn.PgConn().ExecParams(ctx, "SELECT * FROM "+s.table.Sanitize()+" WHERE "+strings.Join(where, " AND "),
		values, nil, nil, nil).Read()
	if result.Err != nil || len(result.Rows) == 0 {
		return nil, result.Err
	}
	for i, f := range result.FieldDescriptions {
		if _, is := known[f.Name]; !is {
			known[f.Name] = s.value(f.DataTypeOID, result.Rows[0][i])
		}
	}
	return known, nil
}

// keyOf returns the columns of the key of a row as an object, all columns if the table has no key.
func (s *stream) keyOf(of uint32, tuple *pglogrepl.TupleData) ([]byte, error) {
	relation, err := s.related(of, tuple)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	for i, c := range tuple.Columns {
		if len(s.key) == 0 || slices.Contains(s.key, relation.Columns[i].Name) {
			object[relation.Columns[i].Name] = s.text(relation, i, c)
		}
	}
	return json.Marshal(object)
}
