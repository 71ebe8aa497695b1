// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/delay"
)

// Line is a line of progress of long work.
type Line struct {
	Type string          // progress, verified or difference
	JSON json.RawMessage // the whole line
}

// lines sends a call whose answer is JSON lines, and returns the last one's value.
func lines[T any](ctx context.Context, c *Client, of *operation, progress func(Line)) (*T, error) {
	of.long = true
	reply, err := c.open(ctx, of)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	decoder := json.NewDecoder(reply.Body)
	for {
		var text json.RawMessage
		if err := decoder.Decode(&text); err != nil {
			return nil, fmt.Errorf("client: %s %s was cut off, and its outcome is unknown: %w", of.method, of.path, err)
		}
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("client: read a line of %s %s: %w", of.method, of.path, err)
		}
		switch head.Type {
		case "result":
			answer := new(T)
			if err := json.Unmarshal(text, answer); err != nil {
				return nil, fmt.Errorf("client: read the result of %s %s: %w", of.method, of.path, err)
			}
			return answer, nil
		case "error":
			return nil, inStream(text)
		}
		if progress != nil {
			progress(Line{head.Type, text})
		}
	}
}

// inStream returns the error of a stream that the server has ended.
func inStream(text []byte) error {
	var head struct {
		Status int `json:"status"`
	}
	e := &Error{}
	if err := errors.Join(json.Unmarshal(text, &head), json.Unmarshal(text, e)); err != nil {
		return fmt.Errorf("client: read the error of a stream: %w", err)
	}
	e.Status = head.Status
	return e
}

// Event is a change in a feed, with the watermark after it.
type Event struct {
	Watermark string
	Change    *Change // nil for the start of the feed
}

// FollowChanges returns the changes after a watermark, "" for those from now on, as they happen, of the cells named, or
// of all. When the connection is lost it resumes after the last event. The first event is the start, without a change.
// It ends with the context, or with an error that a retry cannot fix, such as the code trimmed.
func (c *Client) FollowChanges(ctx context.Context, after string, cells ...string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		begun := false
		for ctx.Err() == nil {
			query := url.Values{}
			add(query, "after", after)
			add(query, "cell", strings.Join(cells, ","))
			reply, err := c.open(ctx, &operation{
				method: http.MethodGet, path: "/v1/changes", query: query, repeatable: true, long: true,
				header: http.Header{"Accept": {"text/event-stream"}},
			})
			if err != nil {
				if ctx.Err() == nil {
					yield(Event{}, err)
				}
				return
			}
			err = c.follow(ctx, reply, &after, &begun, yield)
			_ = reply.Body.Close()
			if errors.Is(err, errLeft) {
				return
			}
			if e, ok := errors.AsType[*Error](err); ok && !again(e, true) {
				yield(Event{}, err)
				return
			}
			_ = delay.For(ctx, time.Duration(c.opts.Rand()*float64(time.Second)))
		}
	}
}

// errLeft means that the caller wants no more events.
var errLeft = errors.New("the caller has left")

// feedPatience is how long a feed may be silent: the server sends a heartbeat every 3 seconds.
const feedPatience = 20 * time.Second

// follow reads events until the connection ends.
func (c *Client) follow(ctx context.Context, reply *http.Response, after *string, begun *bool,
	yield func(Event, error) bool) error {
	defer context.AfterFunc(ctx, func() { _ = reply.Body.Close() })()
	silent := time.AfterFunc(feedPatience, func() { _ = reply.Body.Close() })
	defer silent.Stop()
	reader := bufio.NewReader(reply.Body)
	var kind, id, data string
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return fmt.Errorf("client: the feed was cut off: %w", err)
		}
		silent.Reset(feedPatience)
		field, text, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		text = strings.TrimPrefix(text, " ")
		switch field {
		case "event":
			kind = text
		case "id":
			id = text
		case "data":
			data += text
		case "":
			if err := event(kind, id, data, after, begun, yield); err != nil {
				return err
			}
			kind, id, data = "", "", ""
		}
	}
}

// event handles one event of a feed.
func event(kind, id, data string, after *string, begun *bool, yield func(Event, error) bool) error {
	if id != "" {
		*after = id
	}
	e := Event{Watermark: *after}
	switch kind {
	case "change":
		e.Change = &Change{}
		if err := json.Unmarshal([]byte(data), e.Change); err != nil {
			return fmt.Errorf("client: read an event: %w", err)
		}
	case "end":
		return inStream([]byte(data))
	case "start":
		if *begun {
			return nil
		}
		*begun = true
	default:
		return nil
	}
	if !yield(e, nil) {
		return errLeft
	}
	return nil
}
