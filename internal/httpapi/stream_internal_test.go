// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// TestLines_Beat waits: only the last line of progress is repeated.
func TestLines_Beat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := httptest.NewRecorder()
		ctx, stop := context.WithCancelCause(t.Context())
		l := &lines{w: rec, control: http.NewResponseController(rec), cut: stop}
		done := make(chan struct{})
		go func() { defer close(done); l.beat(ctx) }()
		expect := func(after time.Duration, want int) {
			t.Helper()
			<-time.After(after)
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			if n := strings.Count(rec.Body.String(), "\n"); n != want {
				t.Errorf("%d lines, want %d: %s", n, want, rec.Body)
			}
		}
		expect(10*lineBeat, 0)
		l.progress(map[string]int{"done": 1})
		expect(lineBeat/2, 1)
		expect(lineBeat, 1) // something was written since the last beat
		expect(lineBeat, 2)
		l.progress(map[string]int{"done": 2})
		expect(3*lineBeat, 5)
		stop(nil)
		<-done
		if body := rec.Body.String(); strings.Count(body, `{"type":"progress","done":1}`) != 2 || strings.Count(body, `{"type":"progress","done":2}`) != 3 {
			t.Errorf("lines %s", body)
		}
	})
}

// gone is a client that has left.
type gone struct{ http.ResponseWriter }

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestLines_NobodyReads(t *testing.T) {
	t.Parallel()
	ctx, cut := context.WithCancelCause(t.Context())
	w := gone{httptest.NewRecorder()}
	(&lines{w: w, control: http.NewResponseController(w), cut: cut}).progress(struct{}{})
	if cause := context.Cause(ctx); cause == nil || !strings.Contains(cause.Error(), "broken pipe") {
		t.Errorf("the work goes on: %v", cause)
	}
}

func TestLineOf(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		`{"type":"result"}`:                       struct{}{},
		`{"type":"result","a":1}`:                 map[string]int{"a": 1},
		`{"type":"result","url":"a?b&c","x":"<"}`: map[string]string{"url": "a?b&c", "x": "<"},
	} {
		if got, err := lineOf(LineResult, v); err != nil || string(got) != want+"\n" {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

// Clients that change cells see the text of errors, except of bugs.
func TestOutspoken(t *testing.T) {
	t.Parallel()
	reason := errors.New("permission denied to create database")
	for _, test := range []struct {
		err    error
		code   Code
		detail string
	}{
		{fmt.Errorf("grow: %w: %w", cell.ErrUnavailable, reason), CodeUnavailable, "permission denied"},
		{fmt.Errorf("grow: %w: %w", cell.ErrIdentity, reason), CodeUnavailable, "permission denied"},
		{fmt.Errorf("grow: %w: 5 cells", cell.ErrMap), CodeInvalid, "5 cells"},
		{fmt.Errorf("grow: %w", cell.ErrConflict), CodeConflict, "concurrent change of the cell map"},
		{fmt.Errorf("grow: %w: %w", cell.ErrCommitUnknown, reason), CodeCommitUnknown, "permission denied"},
		{reason, CodeInternal, "this is a bug"},
		{locality.ErrDate, CodeInternal, "this is a bug"},
		{fault(CodeOverloaded, "", "full"), CodeOverloaded, "full"},
	} {
		f := toFault(outspoken(test.err), "")
		if f.Code != test.code || !strings.Contains(f.Detail, test.detail) || f.Outcome != codes[f.Code].outcome {
			t.Errorf("%v: %+v, want %s and %q", test.err, f, test.code, test.detail)
		}
	}
}
