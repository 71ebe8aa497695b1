// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/review"
	"github.com/locus-db/locus/tokens"
)

// Code identifies a failure for programs. Codes are stable: new ones are added, none is renamed.
type Code string

// Codes of this API.
const (
	CodeMalformed       Code = "malformed"
	CodeInvalidUTF8     Code = "invalid_utf8"
	CodeDuplicateKey    Code = "duplicate_key"
	CodeTrailingData    Code = "trailing_data"
	CodeTooDeep         Code = "too_deep"
	CodeUnknownField    Code = "unknown_field"
	CodeUnauthenticated Code = "unauthenticated"
	CodeForbidden       Code = "forbidden"
	CodeMisdirected     Code = "misdirected"
	CodeNotFound        Code = "not_found"
	CodeMethod          Code = "method_not_allowed"
	CodeTimeout         Code = "timeout"
	CodeErased          Code = "erased"
	CodeTrimmed         Code = "trimmed"
	CodeTooOld          Code = "too_old"
	CodeConflict        Code = "conflict"
	CodeLeaseLost       Code = "lease_lost"
	CodeTooLarge        Code = "too_large"
	CodeTargetLength    Code = "target_too_long"
	CodeHeaderLength    Code = "headers_too_large"
	CodeMediaType       Code = "media_type"
	CodeInvalid         Code = "invalid"
	CodeInFuture        Code = "in_future"
	CodeKeyReused       Code = "key_reused"
	CodeRange           Code = "range_too_large"
	CodeOverflow        Code = "counter_overflow"
	CodeInternal        Code = "internal"
	CodeDamaged         Code = "damaged"
	CodeRateLimited     Code = "rate_limited"
	CodeOverloaded      Code = "overloaded"
	CodeUnavailable     Code = "unavailable"
	CodeDraining        Code = "draining"
	CodeStaleMap        Code = "stale_map"
	CodeCommitUnknown   Code = "commit_unknown"
	CodeNoRoom          Code = "no_room"
)

// Outcome states whether a failed request may have been applied.
type Outcome string

// Outcomes of a failure.
const (
	NotApplied Outcome = "not_applied" // nothing was written
	Unknown    Outcome = "unknown"     // it may have been written; repeating the request is safe
)

// codes maps each code to its status and outcome. A text replaces the text of an error that may contain statements or
// file names, which is logged instead.
var codes = map[Code]struct {
	status  int
	outcome Outcome
	text    string
}{
	CodeMalformed:    {http.StatusBadRequest, NotApplied, ""},
	CodeInvalidUTF8:  {http.StatusBadRequest, NotApplied, ""},
	CodeDuplicateKey: {http.StatusBadRequest, NotApplied, ""},
	CodeTrailingData: {http.StatusBadRequest, NotApplied, ""},
	CodeTooDeep:      {http.StatusBadRequest, NotApplied, ""},
	CodeUnknownField: {http.StatusBadRequest, NotApplied, ""},
	CodeUnauthenticated: {
		http.StatusUnauthorized, NotApplied,
		"this needs a valid token, sent as Authorization: Bearer locus_tok_...",
	},
	CodeForbidden:   {http.StatusForbidden, NotApplied, ""},
	CodeMisdirected: {http.StatusMisdirectedRequest, NotApplied, ""},
	CodeNotFound:    {http.StatusNotFound, NotApplied, "no record or entity has this address"},
	CodeMethod:      {http.StatusMethodNotAllowed, NotApplied, ""},
	CodeTimeout:     {http.StatusRequestTimeout, NotApplied, ""},
	CodeConflict: {
		http.StatusConflict, NotApplied,
		"the cells are being changed concurrently: read the cell map, then repeat the request",
	},
	CodeLeaseLost: {
		http.StatusConflict, NotApplied,
		"another server took over this work: repeat the request",
	},
	CodeErased: {http.StatusGone, NotApplied, "the record or entity at this address was deleted"},
	CodeTrimmed: {
		http.StatusGone, NotApplied,
		"the log no longer contains that position, or a restored backup lacks it: read the current state, then continue from the watermark of that response",
	},
	CodeTooOld: {
		http.StatusGone, NotApplied,
		"a hit may be at most 7 days old: older ones cannot be deduplicated, because their keys are no longer stored",
	},
	CodeTooLarge:     {http.StatusRequestEntityTooLarge, NotApplied, ""},
	CodeTargetLength: {http.StatusRequestURITooLong, NotApplied, ""},
	CodeHeaderLength: {http.StatusRequestHeaderFieldsTooLarge, NotApplied, ""},
	CodeMediaType:    {http.StatusUnsupportedMediaType, NotApplied, ""},
	CodeInvalid:      {http.StatusUnprocessableEntity, NotApplied, ""},
	CodeInFuture:     {http.StatusUnprocessableEntity, NotApplied, ""},
	CodeKeyReused: {
		http.StatusUnprocessableEntity, NotApplied,
		"the idempotency key, or the number of the producer, was used for another batch: use a new one for each batch",
	},
	CodeRange: {
		http.StatusUnprocessableEntity, NotApplied,
		"the result would have more than 50,000 values, or a sum above 2^63 - 1: request fewer metrics, a shorter range or a coarser step",
	},
	CodeOverflow: {http.StatusUnprocessableEntity, NotApplied, "the count of the day would exceed 2^63 - 1"},
	CodeInternal: {
		http.StatusInternalServerError, Unknown,
		"this is a bug in Locus: please report it with the request id",
	},
	CodeDamaged: {http.StatusInternalServerError, NotApplied,
		"the stored data is damaged: locus check reports all damage, and what can be repaired"},
	CodeRateLimited: {http.StatusTooManyRequests, NotApplied, ""},
	CodeOverloaded: {
		http.StatusServiceUnavailable, NotApplied,
		"the server is overloaded: try again after the seconds of Retry-After",
	},
	CodeUnavailable: {
		http.StatusServiceUnavailable, NotApplied,
		"a cell is unavailable: try again after the seconds of Retry-After",
	},
	CodeDraining: {
		http.StatusServiceUnavailable, NotApplied,
		"the server is stopping: try another server, or try again later",
	},
	CodeStaleMap: {
		http.StatusServiceUnavailable, NotApplied,
		"this server's cell map is outdated: try again after the seconds of Retry-After",
	},
	CodeCommitUnknown: {
		http.StatusServiceUnavailable, Unknown,
		"the commit was sent but its reply was lost: repeat the request: that is safe even if it took effect",
	},
	CodeNoRoom: {
		http.StatusInsufficientStorage, NotApplied,
		"the disk is full, or a cell's puids are used up: make room or add a generation of cells",
	},
}

// table is the only one from errors to codes. The first match counts, so a cause never hides an unknown outcome, and a
// specific error comes before its class.
var table = []struct {
	code Code
	errs []error
}{
	{CodeCommitUnknown, []error{locus.ErrCommitUnknown}},

	// Codes that say more than the classes below.
	{CodeMalformed, []error{strictjson.ErrSyntax}},
	{CodeInvalidUTF8, []error{strictjson.ErrUTF8}},
	{CodeDuplicateKey, []error{strictjson.ErrDuplicate}},
	{CodeTrailingData, []error{strictjson.ErrTrailing}},
	{CodeTooDeep, []error{strictjson.ErrDepth}},
	{CodeDamaged, []error{cell.ErrDamaged, counter.ErrDamaged}},
	{CodeTooOld, []error{counter.ErrTooOld}},
	{CodeInFuture, []error{counter.ErrInFuture}},
	{CodeOverflow, []error{counter.ErrOverflow}},
	{CodeKeyReused, []error{counter.ErrKeyReused}},
	{CodeRange, []error{counter.ErrRange, kinds.ErrTooMany}},
	{CodeNoRoom, []error{cell.ErrNoRoom, counter.ErrQuota}},
	{CodeStaleMap, []error{cell.ErrStaleMap, cell.ErrMoved, cell.ErrFenced, locality.ErrSegmentOver}},
	{CodeLeaseLost, []error{lease.ErrLost}},
	{CodeForbidden, []error{tokens.ErrLacks}},
	{CodeUnauthenticated, []error{tokens.ErrUnknown}},

	// The classes of package locus.
	{CodeNotFound, []error{locus.ErrNotFound}},
	{CodeErased, []error{locus.ErrErased}},
	{CodeTrimmed, []error{locus.ErrTrimmed}},
	{CodeConflict, []error{locus.ErrConflict, review.ErrChanged}},
	{CodeOverloaded, []error{locus.ErrOverloaded}},
	{CodeUnavailable, []error{locus.ErrUnavailable}},
	{CodeInvalid, []error{locus.ErrInvalid}},
	{CodeDraining, []error{locus.ErrClosed}},
	{CodeUnavailable, []error{context.DeadlineExceeded, context.Canceled}},
}

// Outcome returns whether a request that failed with the code may have been applied.
func (c Code) Outcome() Outcome { return codes[c].outcome }

// CodeOf returns the code of any error, CodeInternal if it has no other.
func CodeOf(err error) Code {
	for _, row := range table {
		if slices.ContainsFunc(row.errs, func(target error) bool { return errors.Is(err, target) }) {
			return row.code
		}
	}
	return CodeInternal
}
