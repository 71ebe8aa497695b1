// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"errors"
	"fmt"
	"os"

	lib "modernc.org/sqlite/lib"

	"github.com/locus-db/locus/cell"
)

var (
	// ErrClosed means that the cell is closed.
	ErrClosed = fmt.Errorf("sqlite: the cell is closed: %w", cell.ErrUnavailable)
	// ErrFailed means that the cell closed itself because a disk write failed. What is on the disk is certain again
	// only after the process has restarted.
	ErrFailed = fmt.Errorf("sqlite: the cell closed itself after a failed write; check the disk and start again: %w",
		cell.ErrUnavailable)
	// errTx means that a transaction was used after its function returned.
	errTx = errors.New("sqlite: the transaction is over")
)

// fault is an error of SQLite.
type fault struct {
	code int // extended
	text string
}

func (f *fault) Error() string { return fmt.Sprintf("%s (%d)", f.text, f.code) }

// Code returns the extended result code, as errors of the driver do.
func (f *fault) Code() int { return f.code }

// code returns the extended result code of an error of SQLite, or 0 for any other error.
func code(err error) int {
	if e, ok := errors.AsType[interface {
		error
		Code() int
	}](err); ok {
		return e.Code()
	}
	return 0
}

// isDiskFailure reports whether a statement failed in a way that leaves the contents of the disk unknown.
func isDiskFailure(err error) bool { return code(err)&0xff == lib.SQLITE_IOERR }

// explain wraps a driver error in the sentinel for its cause.
func explain(err error) error {
	switch code(err) & 0xff {
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: %w", cell.ErrDiskFull, err)
	case lib.SQLITE_BUSY:
		return fmt.Errorf("another program holds the file: %w: %w", cell.ErrUnavailable, err)
	case lib.SQLITE_CANTOPEN:
		file, why := os.Open(os.DevNull)
		if why == nil {
			why = fmt.Errorf("the file cannot be opened: %w", cell.ErrUnavailable)
			file.Close()
		}
		return fmt.Errorf("%w: %w", cell.OutOfFiles(why), err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return &cell.DamagedError{Err: err}
	}
	return err
}
