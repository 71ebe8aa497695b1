// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/locus-db/locus/internal/tabular"
)

// sqlQuery runs a statement on a connection of database/sql.
func sqlQuery(ctx context.Context, conn *sql.Conn, statement string, args []string) (rows, error) {
	params := make([]any, len(args))
	for i, arg := range args {
		params[i] = arg
	}
	ctx, cancel := context.WithCancel(ctx)
	result, err := conn.QueryContext(ctx, statement, params...)
	if err != nil {
		cancel()
		return nil, err
	}
	names, err := result.Columns()
	if err != nil {
		cancel()
		return nil, errors.Join(err, result.Close())
	}
	r := &sqlRows{Rows: result, cancel: cancel, values: make([]any, len(names)), into: make([]any, len(names))}
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r, nil
}

// columnTypes returns the columns of a table or a subquery.
func columnTypes(ctx context.Context, conn *sql.Conn, from string) ([]*sql.ColumnType, error) {
	result, err := conn.QueryContext(ctx, "SELECT * FROM "+from+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	types, err := result.ColumnTypes()
	return types, errors.Join(err, result.Err(), result.Close())
}

// sqlRows are rows of database/sql.
type sqlRows struct {
	*sql.Rows
	values, into []any
	cancel       context.CancelFunc
	done         bool
}

// close ends the result. A result that was not read to its end is cancelled, because the driver would read the rest of
// it.
func (r *sqlRows) close() error {
	if !r.done {
		r.cancel()
		_ = r.Close()
		return nil
	}
	err := r.Close()
	r.cancel()
	return err
}

func (r *sqlRows) next() (all []*string, err error) {
	if !r.Next() {
		if err := r.Err(); err != nil {
			return nil, err
		}
		r.done = true
		return nil, io.EOF
	}
	if err := r.Scan(r.into...); err != nil {
		return nil, err
	}
	all = make([]*string, len(r.values))
	for i, v := range r.values {
		text := ""
		switch of := v.(type) {
		case nil:
			continue
		case string:
			text = of
		case int64:
			text = strconv.FormatInt(of, 10)
		case float64:
			text, _ = tabular.FormatFloat(of, 64)
		case []byte:
			text = string(of)
		default:
			text = fmt.Sprint(of)
		}
		all[i] = &text
	}
	return all, nil
}
