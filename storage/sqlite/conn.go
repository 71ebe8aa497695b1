// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// conn is a connection with its prepared statements. It calls the translated library itself, not through the driver for
// database/sql, which binds a value by comparing its name with those before it, allocates memory for each, and locks
// the connection in every call. Only one goroutine at a time uses a connection, so it has no lock.
type conn struct {
	tls   *libc.TLS // the thread context that the library expects
	db    uintptr
	stmts map[string]*stmt
	list  list // the values of the statement that runs next
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
	c := &conn{tls: libc.NewTLS(), stmts: make(map[string]*stmt)}
	err = c.open(uri)
	if err == nil {
		err = c.apply(settings)
	} else {
		err = fmt.Errorf("open %s: %w", path, err)
	}
	if err != nil {
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

// open opens the database. After an error, db may still have to be closed.
func (c *conn) open(uri string) error {
	name, err := libc.CString(uri)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, name)
	out := c.tls.Alloc(pointerSize)
	defer c.tls.Free(pointerSize)
	rc := lib.Xsqlite3_open_v2(c.tls, name, out, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE|lib.SQLITE_OPEN_NOMUTEX|lib.SQLITE_OPEN_URI, 0)
	c.db = libc.AtomicLoadPUintptr(out)
	if rc == lib.SQLITE_OK {
		rc = lib.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	}
	return c.fault(rc)
}

// close closes the connection. Closing the last one of a file checkpoints the log and removes it.
func (c *conn) close() error {
	for _, s := range c.stmts {
		s.close()
	}
	err := c.fault(lib.Xsqlite3_close_v2(c.tls, c.db))
	c.db = 0
	c.tls.Close()
	return err
}

// fault returns the error of a result code, nil for success.
func (c *conn) fault(rc int32) error {
	if rc == lib.SQLITE_OK {
		return nil
	}
	f := &fault{code: int(rc), text: libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))}
	if c.db != 0 {
		if more := libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db)); more != f.text {
			f.text += ": " + more
		}
	}
	return f
}

// written returns the number of pages that this connection has written since the last call.
func (c *conn) written() (int, error) {
	out := c.tls.Alloc(8) // the number, and the highest one
	defer c.tls.Free(8)
	rc := lib.Xsqlite3_db_status(c.tls, c.db, lib.SQLITE_DBSTATUS_CACHE_WRITE, out, out+4, 1)
	return int(binary.NativeEndian.Uint32(libc.GoBytes(out, 4))), c.fault(rc)
}

// prepare returns the statement, compiled on first use. With LIMIT ? SQLite plans by the value, so that each bind makes
// it compile the statement again: that is four fifths of the time of a small search. With LIMIT +? it does not.
func (c *conn) prepare(sql string) (*stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	s, err := c.compile(sql)
	if err != nil {
		return nil, err
	}
	c.stmts[sql] = s
	return s, nil
}

func (c *conn) compile(sql string) (*stmt, error) {
	text, err := libc.CString(sql)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, text)
	out := c.tls.Alloc(pointerSize)
	defer c.tls.Free(pointerSize)
	if err := c.fault(lib.Xsqlite3_prepare_v2(c.tls, c.db, text, -1, out, 0)); err != nil {
		return nil, err
	}
	s := &stmt{on: c, raw: libc.AtomicLoadPUintptr(out)}
	s.values = int(lib.Xsqlite3_bind_parameter_count(c.tls, s.raw))
	return s, nil
}

// do runs a statement without keeping it prepared and returns its first row, or nil if there is none.
func (c *conn) do(sql string, values ...any) (first record, err error) {
	s, err := c.compile(sql)
	if err != nil {
		return nil, err
	}
	defer s.close()
	err = s.query(context.Background(), func(r row) error {
		if first == nil {
			first = r.all()
		}
		return nil
	}, values...)
	return first, err
}

// script runs several statements.
func (c *conn) script(sql string) error {
	text, err := libc.CString(sql)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, text)
	return c.fault(lib.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0))
}

// pointerSize is enough for a pointer of the library.
const pointerSize = 8
