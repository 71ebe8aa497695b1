// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// stmt is a prepared statement.
type stmt struct {
	on     *conn
	raw    uintptr
	values int // that it takes
	// mem is memory of the library for texts and blobs that are bound, which it reads while the statement runs.
	mem  uintptr
	size int
}

// keptMemory is how many bytes a statement keeps between runs.
const keptMemory = 64 << 10

func (s *stmt) close() {
	lib.Xsqlite3_finalize(s.on.tls, s.raw)
	lib.Xsqlite3_free(s.on.tls, s.mem)
	s.raw, s.mem, s.size = 0, 0, 0
}

// reserve makes room for size bytes of values.
func (s *stmt) reserve(size int) error {
	if size <= s.size {
		return nil
	}
	lib.Xsqlite3_free(s.on.tls, s.mem)
	size = max(size, min(2*s.size, keptMemory), 256)
	s.mem, s.size = lib.Xsqlite3_malloc64(s.on.tls, uint64(size)), size
	if s.mem == 0 {
		s.size = 0
		return fmt.Errorf("sqlite: no memory for %d bytes of values", size)
	}
	return nil
}

// list is the values of a run of a statement. It has copies of texts and blobs, so that calls that add some need no
// memory for them.
type list struct {
	values []value
	bytes  []byte
	other  bool // a value has another type
}

// value is an integer, or the end of a text or blob in the bytes of its list.
type value struct {
	kind uint8
	n    int64
}

// add appends values: int64, string, []byte or nil. A nil []byte is NULL, an empty one an empty blob.
func (l *list) add(values ...any) {
	for _, v := range values {
		to := value{kind: lib.SQLITE_NULL}
		switch v := v.(type) {
		case int64:
			to = value{lib.SQLITE_INTEGER, v}
		case string:
			l.bytes = append(l.bytes, v...)
			to = value{lib.SQLITE_TEXT, int64(len(l.bytes))}
		case []byte:
			if v != nil {
				l.bytes = append(l.bytes, v...)
				to = value{lib.SQLITE_BLOB, int64(len(l.bytes))}
			}
		case nil:
		default:
			l.other = true
		}
		l.values = append(l.values, to)
	}
}

// reset removes all values.
func (l *list) reset() {
	if cap(l.bytes) > keptMemory {
		l.bytes = nil
	}
	l.values, l.bytes, l.other = l.values[:0], l.bytes[:0], false
}

// bindAll binds values.
func (s *stmt) bindAll(values []any) error {
	s.on.list.reset()
	s.on.list.add(values...)
	return s.bind()
}

// bind sets the parameters to the values of the connection's list.
func (s *stmt) bind() error {
	l := &s.on.list
	defer l.reset()
	switch {
	case len(l.values) != s.values:
		return fmt.Errorf("sqlite: %d values for %d parameters", len(l.values), s.values)
	case l.other:
		return errors.New("sqlite: a value is neither an integer nor a text, bytes or nil")
	}
	if err := s.reserve(len(l.bytes) + 1); err != nil { // an empty text needs an address
		return err
	}
	copy(libc.GoBytes(s.mem, len(l.bytes)), l.bytes)
	tls, from := s.on.tls, int64(0)
	for i, v := range l.values {
		var rc int32
		switch n := int32(i + 1); v.kind {
		case lib.SQLITE_INTEGER:
			rc = lib.Xsqlite3_bind_int64(tls, s.raw, n, v.n)
		case lib.SQLITE_TEXT:
			rc = lib.Xsqlite3_bind_text(tls, s.raw, n, s.mem+uintptr(from), int32(v.n-from), 0)
			from = v.n
		case lib.SQLITE_BLOB:
			rc = lib.Xsqlite3_bind_blob(tls, s.raw, n, s.mem+uintptr(from), int32(v.n-from), 0)
			from = v.n
		default:
			rc = lib.Xsqlite3_bind_null(tls, s.raw, n)
		}
		if rc != lib.SQLITE_OK {
			return s.on.fault(rc)
		}
	}
	return nil
}

// step goes to the next row and reports whether there is one.
func (s *stmt) step() (bool, error) {
	switch rc := lib.Xsqlite3_step(s.on.tls, s.raw); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.on.fault(rc)
	}
}

// reset ends a run. Its result code repeats that of the last step.
func (s *stmt) reset() {
	lib.Xsqlite3_reset(s.on.tls, s.raw)
	if s.size > keptMemory {
		lib.Xsqlite3_clear_bindings(s.on.tls, s.raw)
		lib.Xsqlite3_free(s.on.tls, s.mem)
		s.mem, s.size = 0, 0
	}
}

// exec runs the statement to completion. A running statement is never cancelled: batches are bounded, and an
// aborted write would have to be rolled back anyway.
func (s *stmt) exec(values ...any) error { return s.run(s.bindAll(values)) }

// run runs the statement with the values that are bound, if bound is nil.
func (s *stmt) run(bound error) error {
	if bound != nil {
		return bound
	}
	defer s.reset()
	for {
		if more, err := s.step(); !more {
			return err
		}
	}
}

// change runs the statement and returns the number of rows it changed.
func (s *stmt) change(values ...any) (int64, error) {
	if err := s.exec(values...); err != nil {
		return 0, err
	}
	return s.changed(), nil
}

// changed returns the number of rows that the last run changed.
func (s *stmt) changed() int64 { return lib.Xsqlite3_changes64(s.on.tls, s.on.db) }

// errStop ends a query early.
var errStop = errors.New("stop")

// query calls each with every row. The row is valid during the call only; its values remain valid.
func (s *stmt) query(ctx context.Context, each func(row) error, values ...any) error {
	if err := s.bindAll(values); err != nil {
		return err
	}
	defer s.reset()
	for n := 1; ; n++ {
		if more, err := s.step(); !more {
			return err
		}
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch err := each(row{s}); {
		case errors.Is(err, errStop):
			return nil
		case err != nil:
			return err
		}
	}
}

// row is the current row of a statement.
type row struct{ of *stmt }

func (r row) int(i int) int64 {
	return lib.Xsqlite3_column_int64(r.of.on.tls, r.of.raw, int32(i))
}

func (r row) null(i int) bool { return r.kind(i) == lib.SQLITE_NULL }

func (r row) kind(i int) int32 {
	return lib.Xsqlite3_column_type(r.of.on.tls, r.of.raw, int32(i))
}

// text returns a text, "" for NULL.
func (r row) text(i int) string {
	tls, raw := r.of.on.tls, r.of.raw
	p := lib.Xsqlite3_column_text(tls, raw, int32(i))
	return string(libc.GoBytes(p, int(lib.Xsqlite3_column_bytes(tls, raw, int32(i)))))
}

// blob returns a blob, nil for NULL.
func (r row) blob(i int) []byte {
	if r.null(i) {
		return nil
	}
	tls, raw := r.of.on.tls, r.of.raw
	p := lib.Xsqlite3_column_blob(tls, raw, int32(i))
	return append([]byte{}, libc.GoBytes(p, int(lib.Xsqlite3_column_bytes(tls, raw, int32(i))))...)
}

// value returns an int64, string, []byte or nil.
func (r row) value(i int) any {
	switch r.kind(i) {
	case lib.SQLITE_INTEGER:
		return r.int(i)
	case lib.SQLITE_TEXT:
		return r.text(i)
	case lib.SQLITE_BLOB:
		return r.blob(i)
	}
	return nil
}

// all returns the values of the row.
func (r row) all() record {
	values := make(record, lib.Xsqlite3_column_count(r.of.on.tls, r.of.raw))
	for i := range values {
		values[i] = r.value(i)
	}
	return values
}

// record is the values of a row, which remain valid.
type record []any

func (r record) int(i int) int64   { n, _ := r[i].(int64); return n }
func (r record) text(i int) string { s, _ := r[i].(string); return s }
