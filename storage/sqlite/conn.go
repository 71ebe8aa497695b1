// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
)

// conn is a connection with its prepared statements. It calls the driver directly: the pool of database/sql costs a
// lock, a goroutine and several allocations per row.
type conn struct {
	raw   driver.Conn
	stmts map[string]*stmt
	// cache is the cell's page cache size, in bytes, when the connection last took its share of 1/parts.
	cache, parts int64
	// changes is the connection's total_changes() when its last transaction was counted.
	changes int64
}

// dial opens a connection to the file, applies the settings and checks them.
func dial(path string, settings []setting) (*conn, error) {
	uri, err := fileURI(path)
	if err != nil {
		return nil, err
	}
	raw, err := new(sqlite.Driver).Open(uri)
	if err != nil {
		return nil, explain(fmt.Errorf("open %s: %w", path, err))
	}
	c := &conn{raw: raw, stmts: make(map[string]*stmt)}
	if err := c.apply(settings); err != nil {
		return nil, explain(errors.Join(err, c.close()))
	}
	return c, nil
}

// fileURI returns a URI that escapes the path, so that no character in it is parsed as a parameter.
func fileURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), nil
}

// close closes the connection. Closing the last one of a file checkpoints the log and removes it.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.raw.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// written returns the number of pages that this connection has written since the last call.
func (c *conn) written() (int, error) {
	n, _, err := c.raw.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, true)
	return n, err
}

type stmt struct {
	raw  driver.Stmt
	args []driver.NamedValue
}

// prepare returns the statement, compiled on first use. With LIMIT +? SQLite plans by the value, so that each bind makes it
// compile the statement again: that is four fifths of the time of a small search. With LIMIT +? it does not.
func (c *conn) prepare(sql string) (*stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	raw, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, err
	}
	s := &stmt{raw: raw}
	c.stmts[sql] = s
	return s, nil
}

// bind sets the parameters: int64, string, []byte or nil.
func (s *stmt) bind(values []any) {
	for len(s.args) < len(values) {
		s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1})
	}
	for i, v := range values {
		s.args[i].Value = v
	}
	s.args = s.args[:len(values)]
}

// exec runs the statement to completion. A running statement is never cancelled: batches are bounded, and an
// aborted write would have to be rolled back anyway.
func (s *stmt) exec(values ...any) error {
	_, err := s.run(values)
	return err
}

// change runs the statement and returns the number of rows it changed.
func (s *stmt) change(values ...any) (int64, error) {
	result, err := s.run(values)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *stmt) run(values []any) (driver.Result, error) {
	s.bind(values)
	return s.raw.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
}

// row is one row of a result. An empty blob is an empty slice; nil is NULL.
type row []driver.Value

var noBytes driver.Value = []byte{}

// tellEmpty replaces the nil slice that the driver returns for an empty blob with an empty slice. The driver would
// write the nil slice back as NULL.
func (r row) tellEmpty() {
	for i, v := range r {
		if b, ok := v.([]byte); ok && b == nil {
			r[i] = noBytes
		}
	}
}

func (r row) int(i int) int64   { n, _ := r[i].(int64); return n }
func (r row) text(i int) string { s, _ := r[i].(string); return s }
func (r row) blob(i int) []byte { b, _ := r[i].([]byte); return b }
func (r row) null(i int) bool   { return r[i] == nil }

// errStop ends a query early.
var errStop = errors.New("stop")

// query calls each with every row. The row is valid during the call only; its values remain valid.
func (s *stmt) query(ctx context.Context, each func(row) error, values ...any) (err error) {
	s.bind(values)
	rows, err := s.raw.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	r := make(row, len(rows.Columns()))
	for n := 1; ; n++ {
		switch err := rows.Next(r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		r.tellEmpty()
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch err := each(r); {
		case errors.Is(err, errStop):
			return nil
		case err != nil:
			return err
		}
	}
}

// do runs a statement without keeping it prepared and returns its first row, or nil if there is none.
func (c *conn) do(sql string, values ...any) (first row, err error) {
	raw, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, err
	}
	s := &stmt{raw: raw}
	defer func() { err = errors.Join(err, raw.Close()) }()
	err = s.query(context.Background(), func(r row) error {
		if first == nil {
			first = append(first, r...)
		}
		return nil
	}, values...)
	return first, err
}
