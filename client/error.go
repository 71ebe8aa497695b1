// SPDX-License-Identifier: Apache-2.0

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/locus-db/locus/counter"
)

// Error is the reason for which a server refused a request, a hit or a batch.
type Error struct {
	Code    string `json:"code"`    // stable: invalid, too_old, no_room, ...
	Detail  string `json:"detail"`  // for people
	Pointer string `json:"pointer"` // to the field
	Outcome string `json:"outcome"` // not_applied or unknown
	Status  int    `json:"-"`       // HTTP status, if the whole request was refused

	RequestID string     `json:"request_id"` // in the log of the server
	Errors    []SubFault `json:"errors"`     // all problems, if there are several

	retryAfter time.Duration
}

// Error returns the detail with its code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Detail, e.Code) }

// sentinels maps codes to errors of package counter.
var sentinels = map[string]error{
	"too_old": counter.ErrTooOld, "in_future": counter.ErrInFuture, "counter_overflow": counter.ErrOverflow,
	"no_room":    counter.ErrQuota,
	"key_reused": counter.ErrKeyReused, "conflict": counter.ErrSequence, "commit_unknown": counter.ErrCommitUnknown,
	"rate_limited": counter.ErrOverloaded, "overloaded": counter.ErrOverloaded, "draining": counter.ErrClosed,
	"internal": counter.ErrCommitUnknown,
}

// Unwrap lets errors.Is match the errors of package counter.
func (e *Error) Unwrap() error { return sentinels[e.Code] }

// passing has the codes of temporary errors: the hit may be sent again.
var passing = map[string]bool{
	"rate_limited": true, "overloaded": true, "unavailable": true, "draining": true, "stale_map": true,
	"commit_unknown": true, "internal": true, "timeout": true, "lease_lost": true,
}

// refusal returns the error of a response other than 200. If a proxy may have sent it, the outcome is unknown.
func refusal(status int, text []byte) error {
	e := &Error{Status: status}
	if json.Unmarshal(text, e) == nil && e.Code != "" {
		return e
	}
	e = &Error{Code: "status", Detail: fmt.Sprintf("the server answered %d %s", status, http.StatusText(status)),
		Status: status}
	if status >= http.StatusInternalServerError || status == http.StatusRequestTimeout ||
		status == http.StatusTooManyRequests {
		return fmt.Errorf("%w: %w", counter.ErrCommitUnknown, e)
	}
	return e
}

// unanswered returns the error of a request without a response. Without a connection nothing was sent.
func unanswered(err error) error {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return &Error{Code: "unavailable", Detail: err.Error(), Outcome: "not_applied"}
	}
	return fmt.Errorf("%w: %w", counter.ErrCommitUnknown, err)
}

// final reports whether an error is permanent.
func final(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return !passing[e.Code] && !errors.Is(err, counter.ErrCommitUnknown)
	}
	return !errors.Is(err, counter.ErrCommitUnknown)
}

// unsure reports whether a hit may have been counted despite an error.
func unsure(err error) bool { return errors.Is(err, counter.ErrCommitUnknown) }

// decided reports whether the hit's cell has refused it after checking that it was not counted before. For a hit
// that is too old, the record may be gone; without room on its disk the cell may not have looked.
func decided(err error) bool {
	return final(err) && !errors.Is(err, counter.ErrTooOld) && !errors.Is(err, counter.ErrQuota)
}

// unconfirmedIf wraps an error in ErrCommitUnknown if an earlier reply was lost.
func unconfirmedIf(lost bool, err error) error {
	if lost && !unsure(err) {
		return fmt.Errorf("%w: %w", counter.ErrCommitUnknown, err)
	}
	return err
}
