// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
)

// mediaEvents is the media type of server-sent events.
const mediaEvents = "text/event-stream"

// Events of a feed. All but the last have a watermark as id, from which the feed can be resumed, and also as the field
// watermark if they carry no change.
const (
	EventStart     = "start"     // the position where the feed begins, sent at once
	EventChange    = "change"    // one change; the id is the watermark after it
	EventHeartbeat = "heartbeat" // no changes for a while
	EventEnd       = "end"       // the server ends the feed; has the fields of a Problem
)

const feedDoc = "First an event start with the watermark of the beginning; then an event change for each change, with the watermark after it " +
	"as id, for Last-Event-ID or after; heartbeat while nothing changes; and end, with the fields of a Problem, if the server ends the feed"

const (
	// feedSoon and feedLate are the shortest and longest pause between reads; the pause grows while there are no
	// changes.
	feedSoon = 5 * time.Millisecond
	feedLate = 250 * time.Millisecond
	// feedBeat is the maximum time without an event.
	feedBeat = 3 * time.Second
	// lastEventID is the header with the last event that a reconnecting client received.
	lastEventID = "Last-Event-Id"
)

// FeedMark is the data of events without a change.
type FeedMark struct {
	Watermark changelog.Watermark `json:"watermark"`
}

// wantsEvents reports whether a client accepts server-sent events.
func wantsEvents(r *http.Request) bool {
	for media := range accepted(r) {
		if media == mediaEvents {
			return true
		}
	}
	return false
}

// followChanges sends a feed. An error before the first event is sent like any other error.
func (s *Server) followChanges(c *call) error {
	q, err := s.feedQuery(c)
	if err != nil {
		return err
	}
	if c.r.Method == http.MethodHead {
		c.w.Header().Set("Content-Type", mediaEvents)
		return nil
	}
	ctx, cut := context.WithCancel(c.Context)
	defer cut()
	defer context.AfterFunc(s.streams, cut)()
	f := &feed{w: c.w, control: http.NewResponseController(c.w), at: q.After}
	f.read = func(ctx context.Context, after changelog.Watermark, idle time.Duration) ([]changes.Change, changelog.Watermark, error) {
		if idle > feedSoon && q.Cells == nil && s.nothingAfter(ctx, after, idle/2) {
			return nil, after, nil
		}
		ctx, cancel := context.WithTimeout(ctx, s.opts.RequestTimeout)
		defer cancel()
		if after == nil {
			tail, err := s.svc.Changes().Tail(ctx, q.Cells)
			return nil, tail, err
		}
		q.After = after
		found, next, err := s.svc.Changes().Read(ctx, q)
		return s.shownChanges(c, found), next, err
	}
	_ = f.control.SetReadDeadline(time.Time{}) // nothing more is read; the stream may be long
	err = f.follow(ctx)
	switch {
	case s.streams.Err() != nil && ctx.Err() != nil:
		err = standard(CodeDraining)
	case f.begun && (errors.Is(err, errLeft) || ctx.Err() != nil):
		return nil // the client has left
	}
	if !f.begun {
		return err
	}
	p := problem(toFault(err, ""), c.w.Header().Get(requestIDHeader))
	s.note(c.r, p, c.keyed(err))
	_ = f.event(EventEnd, nil, p)
	_ = f.control.Flush()
	return nil
}

// nothingAfter reports whether all logs ended at a position a short time ago. Idle feeds share this query instead of
// each querying every cell.
func (s *Server) nothingAfter(ctx context.Context, at changelog.Watermark, age time.Duration) bool {
	tail, err := s.tail.get(ctx, age, func(ctx context.Context) (changelog.Watermark, error) {
		return s.svc.Changes().Tail(ctx, nil)
	})
	return err == nil && maps.Equal(tail, at)
}

// feedQuery reads which changes to follow. A reconnecting client sends its position in a header, while the URL stays
// the same.
func (s *Server) feedQuery(c *call) (changes.Query, error) {
	q, err := s.changeQuery(c)
	if err != nil {
		return q, err
	}
	if _, given := c.query["limit"]; given {
		return q, fault(CodeInvalid, "?limit", "a feed of events takes no limit: close the connection when you have enough")
	}
	q.Limit = locus.MaxLimit
	if text := strings.Join(c.r.Header[lastEventID], ","); text != "" {
		if q.After, err = changelog.ParseWatermark(text); err != nil {
			return q, fault(CodeInvalid, "", "the header Last-Event-ID is %.60q: want the id of an event of this feed", text)
		}
	}
	return q, nil
}

// feed is an answer that continues as long as the client reads.
type feed struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// at is the position up to which everything was written, nil to begin at the end of the log.
	at changelog.Watermark
	// read returns the changes after a position, and the position after them; for nil the end of the log. It may lag by
	// a fraction of the idle time.
	read  func(ctx context.Context, after changelog.Watermark, idle time.Duration) ([]changes.Change, changelog.Watermark, error)
	begun bool
	wrote time.Time
}

// errLeft means that the client has left.
var errLeft = errors.New("the reader has left")

// follow writes changes as they arrive, until an error.
func (f *feed) follow(ctx context.Context) error {
	for wait := feedSoon; ; {
		changes, next, err := f.read(ctx, f.at, wait)
		if err == nil {
			err = f.write(changes, next)
		}
		if err != nil {
			return err
		}
		if len(changes) > 0 {
			wait = feedSoon
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		wait = min(2*wait, feedLate)
	}
}

// write sends changes, or a heartbeat if there was none for a while.
func (f *feed) write(changes []changes.Change, next changelog.Watermark) error {
	if !f.begun {
		h := f.w.Header()
		h.Set("Content-Type", mediaEvents)
		h.Set("X-Accel-Buffering", "no") // keeps proxies from buffering events
		if f.at == nil {
			f.at = next
		}
		f.begun = true
		if err := f.event(EventStart, f.at, FeedMark{f.at}); err != nil {
			return err
		}
	} else if len(changes) == 0 && time.Since(f.wrote) < feedBeat {
		f.at = next
		return nil
	}
	at := maps.Clone(f.at)
	for i := range changes {
		at[changes[i].Cell] = changes[i].Seq
		if err := f.event(EventChange, at, &changes[i]); err != nil {
			return err
		}
	}
	if f.at = next; time.Since(f.wrote) >= feedBeat {
		if err := f.event(EventHeartbeat, f.at, FeedMark{f.at}); err != nil {
			return err
		}
	}
	if err := f.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}

func (f *feed) event(kind string, id changelog.Watermark, data any) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "event: %s\n", kind)
	if id != nil {
		fmt.Fprintf(&text, "id: %v\n", id)
	}
	text.WriteString("data: ")
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil { // one line
		return err
	}
	text.WriteByte('\n')
	f.wrote = time.Now()
	_ = f.control.SetWriteDeadline(f.wrote.Add(streamWrite)) // fails without a network
	if _, err := f.w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}
