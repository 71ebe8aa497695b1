// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// timeoutHeader is the time the client waits for an answer, in whole seconds.
const timeoutHeader = "Request-Timeout"

// withTimeout limits a request by the client's timeout, so that no work is done for a client that has given up. The
// server's own limits still apply: a client can only shorten them.
func withTimeout(r *http.Request) (*http.Request, context.CancelFunc, error) {
	values := r.Header[timeoutHeader]
	if len(values) == 0 {
		return r, func() {}, nil
	}
	text := strings.Join(values, ", ")
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err != nil || seconds == 0 || strconv.FormatUint(seconds, 10) != text {
		return nil, nil, fault(CodeMalformed, "", "the header %s is %.40q: want one whole number of seconds, 1 or more",
			timeoutHeader, text)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	return r.WithContext(ctx), cancel, nil
}
