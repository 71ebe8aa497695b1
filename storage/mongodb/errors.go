// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/locus-db/locus/cell"
)

// ErrURI means that a URI does not name a database of MongoDB.
var ErrURI = errors.New("mongodb: unusable URI")

// unread gives the error of a reading the sentinel that callers know.
func unread(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, cell.ErrUnavailable):
		return err
	case nobody(err), mongo.IsNetworkError(err), mongo.IsTimeout(err), steppedDown(err), unreached(err):
		return fmt.Errorf("%w: %w", cell.ErrUnavailable, err)
	}
	return err
}

// unwritten gives the error of a writing the sentinel that callers know: cell.ErrUnavailable if nothing was
// written for certain, cell.ErrUnknownOutcome if nobody knows.
func unwritten(err error) error {
	switch {
	case err == nil:
		return nil
	case nobody(err):
		return fmt.Errorf("%w: %w", cell.ErrUnavailable, err)
	case doubtful(err):
		return fmt.Errorf("%w: %w", cell.ErrUnknownOutcome, err)
	}
	return err
}

// nobody tells whether no server was found to send an operation to.
func nobody(err error) bool {
	_, ok := errors.AsType[topology.ServerSelectionError](err)
	return ok
}

// doubtful tells whether a write may have been done, or may be undone: no answer came, the primary stepped
// down, or the majority did not confirm it.
func doubtful(err error) bool {
	if mongo.IsNetworkError(err) || mongo.IsTimeout(err) || steppedDown(err) || unreached(err) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	if e, ok := errors.AsType[mongo.WriteException](err); ok && e.WriteConcernError != nil {
		return true
	}
	if e, ok := errors.AsType[mongo.BulkWriteException](err); ok && e.WriteConcernError != nil {
		return true
	}
	e, ok := errors.AsType[mongo.ServerError](err)
	return ok && (e.HasErrorLabel("RetryableWriteError") || e.HasErrorLabel("UnknownTransactionCommitResult"))
}

// steppedDown tells whether the server was no primary, or ceased to be one.
func steppedDown(err error) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	// PrimarySteppedDown, ShutdownInProgress, NotWritablePrimary, InterruptedAtShutdown,
	// InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
	return ok && slices.ContainsFunc([]int{189, 91, 10107, 11600, 11602, 13435, 13436}, e.HasErrorCode)
}

// unreached reports whether a mongos did not reach a shard, or not in time: of a write, after it was sent perhaps.
func unreached(err error) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	// HostUnreachable, HostNotFound, NetworkTimeout, FailedToSatisfyReadPreference,
	// NetworkInterfaceExceededTimeLimit, ExceededTimeLimit, SocketException.
	return ok && slices.ContainsFunc([]int{6, 7, 89, 133, 202, 262, 9001}, e.HasErrorCode)
}

// hidden is the text of an error without the URI, which may hold a password.
func hidden(err error, uri string) string {
	text := strings.ReplaceAll(err.Error(), uri, "the URI")
	if _, secret, _ := ShownURI(uri); secret {
		return "it cannot be read" // whatever the text quotes
	}
	return text
}
