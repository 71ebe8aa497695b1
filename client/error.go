// SPDX-License-Identifier: Apache-2.0

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/locus-db/locus/counter"
)

// Error is what a server refused a hit, or a batch, with.
type Error struct {
	Code    string `json:"code"`    // stable: invalid, too_old, no_room, ...
	Detail  string `json:"detail"`  // for people
	Pointer string `json:"pointer"` // to the field
	Outcome string `json:"outcome"` // not_applied or unknown
	Status  int    `json:"-"`       // of the answer, if it refused the whole batch
}

// Error is the detail with its code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Detail, e.Code) }

// sentinels are the errors of package counter that codes stand for.
var sentinels = map[string]error{
	"too_old": counter.ErrTooOld, "in_future": counter.ErrInFuture, "counter_overflow": counter.ErrOverflow, "no_room": counter.ErrQuota,
	"key_reused": counter.ErrKeyReused, "conflict": counter.ErrSequence, "unconfirmed": counter.ErrUnconfirmed,
	"overloaded": counter.ErrOverloaded, "draining": counter.ErrClosed, "internal": counter.ErrUnconfirmed,
}

// Unwrap lets errors.Is tell the errors of package counter.
func (e *Error) Unwrap() error { return sentinels[e.Code] }

// passing are the codes that say nothing of the hit: it may be sent again.
var passing = map[string]bool{
	"overloaded": true, "unavailable": true, "draining": true, "stale_map": true, "unconfirmed": true, "internal": true, "timeout": true, "lease_lost": true,
}

// refusal is the error of an answer that is not 200. A proxy may have sent it, and then nobody knows.
func refusal(status int, text []byte) error {
	e := &Error{Status: status}
	if json.Unmarshal(text, e) == nil && e.Code != "" {
		return e
	}
	e = &Error{Code: "status", Detail: fmt.Sprintf("the server answered %d %s", status, http.StatusText(status)), Status: status}
	if status >= http.StatusInternalServerError || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests {
		return fmt.Errorf("%w: %w", counter.ErrUnconfirmed, e)
	}
	return e
}

// unanswered is the error of a request without an answer. Nothing was sent if there was no connection.
func unanswered(err error) error {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return &Error{Code: "unavailable", Detail: err.Error(), Outcome: "not_applied"}
	}
	return fmt.Errorf("%w: %w", counter.ErrUnconfirmed, err)
}

// final tells whether an error would come again.
func final(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return !passing[e.Code] && !errors.Is(err, counter.ErrUnconfirmed)
	}
	return !errors.Is(err, counter.ErrUnconfirmed)
}

// unsure tells whether a hit may have been counted in spite of an error.
func unsure(err error) bool { return errors.Is(err, counter.ErrUnconfirmed) }

// decided tells whether the cell of a hit has refused it, after it looked whether it had been counted. Whether
// one that is too old was, it may have forgotten.
func decided(err error) bool { return final(err) && !errors.Is(err, counter.ErrTooOld) }

// unconfirmedIf says that a hit may have been counted, if so.
func unconfirmedIf(lost bool, err error) error {
	if lost && !unsure(err) {
		return fmt.Errorf("%w: %w", counter.ErrUnconfirmed, err)
	}
	return err
}
