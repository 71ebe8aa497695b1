// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// timeoutHeader is where a client says for how many whole seconds it waits for the answer.
const timeoutHeader = "Request-Timeout"

// withTimeout bounds a request by the patience of its client, so that nothing is begun that nobody
// waits for. The server's own limits hold besides: a client can only ask for less.
func withTimeout(r *http.Request) (*http.Request, context.CancelFunc, error) {
	values := r.Header[timeoutHeader]
	if len(values) == 0 {
		return r, func() {}, nil
	}
	text := strings.Join(values, ", ")
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err != nil || seconds == 0 || strconv.FormatUint(seconds, 10) != text {
		return nil, nil, fault(CodeMalformed, "", "the header %s is %.40q: want one whole number of seconds, 1 or more", timeoutHeader, text)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	return r.WithContext(ctx), cancel, nil
}
