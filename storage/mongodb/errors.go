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

// ErrURI means that a URI does not name a MongoDB database.
var ErrURI = errors.New("mongodb: unusable URI")

// unread wraps a read error in the sentinel for its cause.
func unread(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, cell.ErrUnavailable):
		return err
	case noServer(err), mongo.IsNetworkError(err), mongo.IsTimeout(err), steppedDown(err), unreached(err):
		return fmt.Errorf("%w: %w", cell.ErrUnavailable, err)
	}
	return err
}

// unwritten wraps a write error: in cell.ErrUnavailable if nothing was written for certain, in
// cell.ErrCommitUnknown if that is unknown.
func unwritten(err error) error {
	switch {
	case err == nil:
		return nil
	case noServer(err):
		return fmt.Errorf("%w: %w", cell.ErrUnavailable, err)
	case doubtful(err):
		return fmt.Errorf("%w: %w", cell.ErrCommitUnknown, err)
	}
	return err
}

// noServer reports whether no server was found for an operation.
func noServer(err error) bool {
	_, ok := errors.AsType[topology.ServerSelectionError](err)
	return ok
}

// doubtful reports whether a write may have been applied, or may be rolled back: no reply came, the primary stepped
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

// steppedDown reports whether the server was not the primary or ceased to be.
func steppedDown(err error) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	// PrimarySteppedDown, ShutdownInProgress, NotWritablePrimary, InterruptedAtShutdown,
	// InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
	return ok && slices.ContainsFunc([]int{189, 91, 10107, 11600, 11602, 13435, 13436}, e.HasErrorCode)
}

// unreached reports whether a mongos did not reach a shard in time. A write may already have been sent to it.
func unreached(err error) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	// HostUnreachable, HostNotFound, NetworkTimeout, FailedToSatisfyReadPreference,
	// NetworkInterfaceExceededTimeLimit, ExceededTimeLimit, SocketException.
	return ok && slices.ContainsFunc([]int{6, 7, 89, 133, 202, 262, 9001}, e.HasErrorCode)
}

// hidden returns the text of an error without the URI, which may contain a password.
func hidden(err error, uri string) string {
	text := strings.ReplaceAll(err.Error(), uri, "the URI")
	if _, secret, _ := ShownURI(uri); secret {
		return "it cannot be read" // the text might quote the password
	}
	return text
}
