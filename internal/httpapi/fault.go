// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
)

// Fault is a failure of a request or of one item of it.
type Fault struct {
	Code   Code   `json:"code" doc:"Stable name of the error, for programs"`
	Detail string `json:"detail" doc:"What failed, which one, why, and what to try; for people"`
	// Pointer is a JSON pointer (RFC 6901) into the body, or ?name for a query parameter.
	Pointer string          `json:"pointer,omitempty" doc:"JSON pointer to the field, or ?name for a query parameter"`
	Outcome Outcome         `json:"outcome" enum:"not_applied,unknown" doc:"Whether the operation may have taken effect"`
	Errors  []locus.Problem `json:"errors,omitempty" doc:"All problems, if there are several, with finer codes"`
}

// Problem is the answer to a failed request (RFC 9457, application/problem+json).
type Problem struct {
	Title  string `json:"title" doc:"Text of the status"`
	Status int    `json:"status"`
	Fault
	RequestID string `json:"request_id" doc:"Also in the log of the server"`
}

// Error returns the detail and the code, so that clients can return a Problem as an error.
func (p *Problem) Error() string { return fmt.Sprintf("%s (%s)", p.Detail, p.Code) }

// Error returns the detail, so that handlers can return a Fault as an error.
func (f *Fault) Error() string { return f.Detail }

// fault returns an error of this API. The detail is sent to the client, so external arguments must be formatted with a
// length, as in %.60q.
func fault(code Code, pointer, format string, args ...any) *Fault {
	return &Fault{Code: code, Detail: fmt.Sprintf(format, args...), Pointer: pointer, Outcome: codes[code].outcome}
}

func standard(code Code) *Fault {
	return &Fault{Code: code, Detail: codes[code].text, Outcome: codes[code].outcome}
}

// toFault converts any error. pointer is the pointer of the item, prepended to the pointers of its problems.
func toFault(err error, pointer string) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	var invalid *locus.InvalidError
	if errors.As(err, &invalid) && len(invalid.Problems) > 0 {
		return invalidFault(invalid, pointer)
	}
	code := CodeOf(err)
	info := codes[code]
	detail := info.text
	if text := ofCounter(err); text != "" {
		detail = text
	} else if code == CodeDamaged {
		detail = ofDamage(err)
	} else if errors.Is(err, cell.ErrWentBack) && code == CodeUnavailable {
		detail = "a cell is older than before: restore its newest state, or accept the loss with locus cell restored; the server's log names the cell"
	} else if errors.Is(err, cell.ErrFiles) && code == CodeUnavailable {
		detail = "this server has " + cell.ErrFiles.Error()
	} else if ofRules(err) {
		detail = printable(err.Error())
	} else if detail == "" || code != CodeInternal && (errors.As(err, new(spoken)) || ofRollup(err)) {
		detail = printable(err.Error())
	}
	if errors.Is(err, cell.ErrLeft) {
		detail, pointer = detail+": "+WithReplace, PointerReplace
	}
	return &Fault{Code: code, Detail: detail, Pointer: pointer, Outcome: info.outcome}
}

// A move that is refused because rows would be replaced has this pointer, and ends with this text.
const (
	PointerReplace = "/replace"
	WithReplace    = `"replace": true deletes them first`
)

// problem returns the answer for a fault.
func problem(f *Fault, requestID string) *Problem {
	status := codes[f.Code].status
	return &Problem{Title: http.StatusText(status), Status: status, Fault: *f, RequestID: requestID}
}

// retryAfter returns 1 to 3 seconds, so that clients refused together do not retry together; 1 for a rollup, which is
// ready soon and requested by few clients; after a rate, when there is room.
func retryAfter(err error) string {
	if l, ok := errors.AsType[*limited](err); ok {
		return strconv.Itoa(max(1, int(math.Ceil(l.wait.Seconds()))))
	}
	if ofRollup(err) {
		return "1"
	}
	return strconv.Itoa(1 + rand.IntN(3))
}
