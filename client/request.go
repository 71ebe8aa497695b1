// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/delay"
)

// operation is a request of one.
type operation struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any  // nil for none
	repeatable   bool // after a lost response it may be sent again
	long         bool // its answer is read for as long as it comes
}

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
	// idempotencyKey makes hits count once however often they are sent.
	idempotencyKey = "Idempotency-Key"
)

// open sends a call until it is answered, and returns the response if it is a success. For Options.Patience it repeats
// calls that were not applied (429, 503, no connection) and, if the call is repeatable, calls with a lost response or
// an unknown outcome.
func (c *Client) open(ctx context.Context, of *operation) (*http.Response, error) {
	c.identify(of)
	var body []byte
	if of.body != nil {
		var err error
		if body, err = json.Marshal(of.body); err != nil {
			return nil, fmt.Errorf("client: encode the body: %w", err)
		}
	}
	begin := time.Now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		reply, err := c.once(ctx, of, body)
		if err == nil || !again(err, of.repeatable) {
			return reply, err
		}
		wait := time.Duration((0.5 + c.opts.Rand()/2) * float64(pause))
		if e, ok := errors.AsType[*Error](err); ok {
			wait = max(wait, e.retryAfter)
		}
		if time.Since(begin)+wait > c.opts.Patience {
			return nil, err
		}
		if delay.For(ctx, wait) != nil {
			return nil, err
		}
	}
}

// identify gives hits a key, and the time that a key requires, so that they count once however often they are sent.
func (c *Client) identify(of *operation) {
	hits, ok := of.body.(*HitRequest)
	if !ok {
		return
	}
	of.repeatable = true
	if of.header.Get(idempotencyKey) != "" || of.header.Get("Locus-Producer") != "" {
		return
	}
	timed := slices.Clone(hits.Hits)
	for i := range timed {
		if timed[i].At.IsZero() {
			timed[i].At = c.opts.Now()
		}
	}
	of.body, of.header = &HitRequest{Hits: timed}, http.Header{idempotencyKey: {rand.Text()}}
}

// again reports whether a failed call may be sent again.
func again(err error, repeatable bool) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return repeatable // no response
	case e.Status == 0:
		return true // no connection
	case e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable:
		return repeatable || e.Outcome == "not_applied"
	}
	return repeatable && (e.Status == http.StatusBadGateway || e.Status == http.StatusGatewayTimeout)
}

// once sends a call once.
func (c *Client) once(ctx context.Context, of *operation, body []byte) (*http.Response, error) {
	stop := func() {}
	if !of.long {
		ctx, stop = context.WithTimeoutCause(ctx, c.opts.Timeout, errTimeout)
	}
	target := c.base + of.path
	if len(of.query) > 0 {
		target += "?" + of.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, of.method, target, bytes.NewReader(body))
	if err != nil {
		stop()
		return nil, fmt.Errorf("client: %w", err)
	}
	for k, v := range of.header {
		r.Header[k] = v
	}
	if of.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	c.authorize(r)
	reply, err := c.http.Do(r)
	if err != nil {
		stop()
		if context.Cause(ctx) == errTimeout {
			err = errTimeout
		}
		return nil, fmt.Errorf("client: %s %s: %w", of.method, of.path, unanswered(err))
	}
	reply.Body = &timed{reply.Body, stop}
	if reply.StatusCode >= http.StatusOK && reply.StatusCode < http.StatusMultipleChoices {
		return reply, nil
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	_ = reply.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("client: read the error of %s %s: %w", of.method, of.path, err)
	}
	err = refusal(reply.StatusCode, text)
	if e, ok := errors.AsType[*Error](err); ok {
		seconds, _ := strconv.Atoi(reply.Header.Get("Retry-After"))
		e.retryAfter = time.Duration(seconds) * time.Second
	}
	return nil, err
}

// errTimeout ends a request after Options.Timeout.
var errTimeout = errors.New("the server has not answered in time")

// timed is the body of a response, whose timer ends with it.
type timed struct {
	io.ReadCloser
	stop context.CancelFunc
}

// Close closes the body.
func (b *timed) Close() error {
	defer b.stop()
	return b.ReadCloser.Close()
}

// plain sends a call and decodes its answer.
func plain[T any](ctx context.Context, c *Client, of *operation) (answer T, err error) {
	reply, err := c.open(ctx, of)
	if err != nil {
		return answer, err
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("client: read the answer of %s %s: %w", of.method, of.path, err)
	}
	return answer, nil
}

func value[T any](ctx context.Context, c *Client, of *operation) (*T, error) {
	answer, err := plain[T](ctx, c, of)
	if err != nil {
		return nil, err
	}
	return &answer, nil
}

func (c *Client) void(ctx context.Context, of *operation) error {
	reply, err := c.open(ctx, of)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

// Download is an answer that is read as it comes. If the server fails midway, reading ends with an error.
type Download struct {
	io.ReadCloser
	Header http.Header // has Locus-Watermark and others
}

func (c *Client) download(ctx context.Context, of *operation) (*Download, error) {
	of.long = true
	reply, err := c.open(ctx, of)
	if err != nil {
		return nil, err
	}
	return &Download{reply.Body, reply.Header}, nil
}

// pages yields the items of one page after the other.
func pages[T any](next func() (items []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			var items []T
			var err error
			if items, more, err = next(); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// segment escapes a part of a path. Parts of dots would be taken for directories.
func segment(text string) string {
	if strings.Trim(text, ".") == "" {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// segments escapes parts of a path.
func segments(texts []string) string {
	escaped := make([]string, len(texts))
	for i, text := range texts {
		escaped[i] = segment(text)
	}
	return strings.Join(escaped, "/")
}

// add adds a parameter that is set.
func add(to map[string][]string, name string, value any) {
	var texts []string
	switch v := value.(type) {
	case string:
		texts = []string{v}
	case []string:
		texts = v
	case int64:
		if v != 0 {
			texts = []string{strconv.FormatInt(v, 10)}
		}
	case *bool:
		if v != nil {
			texts = []string{strconv.FormatBool(*v)}
		}
	case time.Time:
		if !v.IsZero() {
			texts = []string{v.Format(time.RFC3339Nano)}
		}
	}
	for _, text := range texts {
		if text != "" {
			to[name] = append(to[name], text)
		}
	}
}

// CodeOf returns the code of an error of the server, such as not_found; commit_unknown if the response was lost; and ""
// for any other error.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if errors.Is(err, counter.ErrCommitUnknown) {
		return "commit_unknown"
	}
	return ""
}
