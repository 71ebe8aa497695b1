// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

var (
	// ErrClosed means that the cell is closed.
	ErrClosed = fmt.Errorf("postgres: the cell is closed: %w", cell.ErrUnavailable)
	// errTx means that a transaction was used after its function returned.
	errTx = errors.New("postgres: the transaction is over")

	errReading = errors.New("postgres: a transaction that reads cannot write")
	errNobody  = errors.New("postgres: cell has no identity")
)

// SQLSTATE codes.
const (
	readOnly           = "25006"
	sequenceUsedUp     = "2200H"
	missingDatabase    = "3D000"
	duplicateDatabase  = "42P04"
	uniqueViolation    = "23505"
	serialization      = "40001"
	deadlock           = "40P01"
	diskFull           = "53100"
	outOfMemory        = "53200"
	tooManyConnections = "53300"
	lockNotAvailable   = "55P03"
	queryCanceled      = "57014"
	noRole             = "28000" // also: pg_hba.conf has no line for it
	wrongPassword      = "28P01"
	noPrivilege        = "42501"
	dataCorrupted      = "XX001"
	indexCorrupted     = "XX002"
	fileMissing        = "58P01"
)

// state returns the SQLSTATE of an error, or "" if it is not from the server.
func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// isRefused reports whether the server rejects the role.
func isRefused(err error) bool {
	switch state(err) {
	case noRole, wrongPassword, noPrivilege:
		return true
	}
	return false
}

// again reports whether the server asks for a retry of the transaction.
func again(err error) bool { return state(err) == serialization || state(err) == deadlock }

// explain wraps a server error in the sentinel for its cause.
func explain(err error) error {
	switch state(err) {
	case sequenceUsedUp:
		return fmt.Errorf("%w: %w", cell.ErrNoRoom, err)
	case diskFull:
		return fmt.Errorf("%w: %w", cell.ErrDiskFull, err)
	case lockNotAvailable:
		return fmt.Errorf("other transactions hold what this one needs: %w: %w", cell.ErrUnavailable, err)
	case queryCanceled:
		return fmt.Errorf("a statement took too long: %w: %w", cell.ErrUnavailable, err)
	case noPrivilege:
		return fmt.Errorf("%w: %w", storage.ErrRefused, err)
	case outOfMemory, tooManyConnections:
		return fmt.Errorf("the server is short of something: %w: %w", cell.ErrUnavailable, err)
	case dataCorrupted, indexCorrupted, fileMissing:
		return &cell.DamagedError{Err: err}
	}
	return err
}

// lostError means that a connection ended or could not be opened.
type lostError struct{ reason error }

func (e *lostError) Error() string { return "connection lost: " + e.reason.Error() }

// Unwrap returns cell.ErrUnavailable: nothing was done, unless the caller adds cell.ErrCommitUnknown. It hides
// context errors, because the caller's context is not done.
func (e *lostError) Unwrap() []error {
	if errors.Is(e.reason, syscall.EMFILE) || errors.Is(e.reason, syscall.ENFILE) {
		return []error{cell.ErrUnavailable, cell.ErrFiles}
	}
	return []error{cell.ErrUnavailable}
}

// refusedParameter returns the server's message about a URL parameter that it does not know or does not accept from
// a client, or "" if the connection failed for another reason.
func refusedParameter(err error) string {
	lost, ok := errors.AsType[*lostError](err)
	if !ok {
		return ""
	}
	switch said, _ := errors.AsType[*pgconn.PgError](lost.reason); state(lost.reason) {
	case "42704", "22023", "42601", "55P02", "42501": // undefined, bad value, syntax, only at the start, not permitted
		return said.Message
	}
	return ""
}

// isLost reports whether a connection was lost.
func isLost(err error) bool {
	_, ok := errors.AsType[*lostError](err)
	return ok
}

// slowError means that the server did not answer in time. The statement may still be running.
type slowError struct{ reason error }

func (e *slowError) Error() string { return "no answer in time: " + e.reason.Error() }

// Unwrap returns cell.ErrUnavailable, like lostError's.
func (e *slowError) Unwrap() error { return cell.ErrUnavailable }
