// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

// event is a server-sent event.
type event struct {
	name, id string
	data     []byte
}

const (
	// eventSilence is how long a server may be silent before the connection counts as lost. A server sends a heartbeat
	// every few seconds.
	eventSilence = 30 * time.Second
	mediaEvents  = "text/event-stream"
)

// errSilent means that the heartbeats of a server stopped.
var errSilent = fmt.Errorf("%w: nothing came for %v", errCut, eventSilence)

// events requests a stream of events and passes them to each until each returns an error, which events returns, or
// until the server ends the stream: then the error is a *httpapi.Problem or errCut. A refusal is a *httpapi.Problem.
func (c *client) events(ctx context.Context, path string, query url.Values, each func(event) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(eventSilence, func() { cancel(errSilent) })
	defer silence.Stop()
	response, err := c.send(ctx, c.patient(),
		question{method: http.MethodGet, path: path, query: query, accept: mediaEvents})
	if err != nil {
		return causeOf(ctx, err)
	}
	defer response.Body.Close()
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || media != mediaEvents {
		if _, err := readAnswer(response); err != nil {
			return err
		}
		return foreign(response, fmt.Errorf("it returned %.80q, not events", media))
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxStreamLine)
	var e event
	for lines.Scan() {
		silence.Reset(eventSilence)
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if err := e.hand(each); err != nil {
				return err
			}
			e = event{}
		case name == "event":
			e.name = value
		case name == "id":
			e.id = value
		case name == "data":
			e.data = append(e.data, value...)
		}
	}
	return causeOf(ctx, fmt.Errorf("read the answer: %w: %w", errCut, cmp.Or(lines.Err(), io.ErrUnexpectedEOF)))
}

// hand passes an event to each, unless it is the last one, which carries the reason.
func (e *event) hand(each func(event) error) error {
	switch {
	case e.name == "":
		return nil // a comment that keeps the connection alive
	case e.name != httpapi.EventEnd:
		return each(*e)
	}
	var problem httpapi.Problem
	if err := json.Unmarshal(e.data, &problem); err != nil || problem.Code == "" {
		return fmt.Errorf("%w: the server ended it", errCut)
	}
	return &problem
}

// causeOf returns why a request ended, if this side ended it.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
