// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestCheck_IsAStreamThatEndsWithTheSums(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for body, want := range map[string]string{
		"":                   `"differs":0,"repaired":0}`,
		`{"repair":true}`:    `"differs":0,"repaired":0}`,
		`{"cells":["g0-1"]}`: `{"type":"result","cells":1,"differs":0,"repaired":0}`,
	} {
		a := f.do("POST", "/v1/check", body)
		lines := strings.Split(strings.TrimSpace(a.Body.String()), "\n")
		if last := lines[len(lines)-1]; a.Code != http.StatusOK || len(lines) < 2 || !strings.HasSuffix(last, want) {
			t.Errorf("%q: %d, %d lines, the last %s, want %s", body, a.Code, len(lines), last, want)
		}
	}
	for body, want := range map[string]int{
		`{"repair":1}`:        http.StatusUnprocessableEntity,
		`{"cells":["x"]}`:     http.StatusUnprocessableEntity,
		`{"cells":[]}`:        http.StatusUnprocessableEntity,
		`{"cells":"g0-1"}`:    http.StatusUnprocessableEntity,
		`{"cells":["g0-99"]}`: http.StatusNotFound,
		`{"all":true}`:        http.StatusBadRequest,
	} {
		if a := f.do("POST", "/v1/check", body); a.Code != want {
			t.Errorf("%s: %d %s, want %d", body, a.Code, a.Body, want)
		}
	}
}
