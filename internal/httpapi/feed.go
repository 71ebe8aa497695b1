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

// mediaEvents is the type of an answer that is a stream of server-sent events.
const mediaEvents = "text/event-stream"

// The events of a feed. All but the last carry a watermark as their id, from which the feed can be taken up
// again, and as the field watermark where they have no change.
const (
	EventStart     = "start"     // where the feed begins, at once
	EventChange    = "change"    // one change; the id is the watermark after it
	EventHeartbeat = "heartbeat" // nothing has come for a while
	EventEnd       = "end"       // the server ends the feed; has the fields of a Problem
)

const feedDoc = "Event start with the watermark where the feed begins; then an event change for each change, with the watermark after it " +
	"as id, for Last-Event-ID or after; heartbeat while there is none; and end, with the fields of a Problem, if the server ends the feed"

const (
	// feedSoon and feedLate are between which a feed waits before it looks again for changes: the longer the
	// longer there was none.
	feedSoon = 5 * time.Millisecond
	feedLate = 250 * time.Millisecond
	// feedBeat is how long a feed is silent at most.
	feedBeat = 3 * time.Second
	// lastEventID is where a client says what it has seen, when it comes again.
	lastEventID = "Last-Event-Id"
)

// FeedMark is the data of events that are no changes.
type FeedMark struct {
	Watermark changelog.Watermark `json:"watermark"`
}

// wantsEvents tells whether a client asks for events.
func wantsEvents(r *http.Request) bool {
	for media := range accepted(r) {
		if media == mediaEvents {
			return true
		}
	}
	return false
}

// followChanges answers with a feed. What fails before its first event is refused as any request is.
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
		return s.svc.Changes().Read(ctx, q)
	}
	_ = f.control.SetReadDeadline(time.Time{}) // there is nothing left to read, however long it takes
	err = f.follow(ctx)
	switch {
	case s.streams.Err() != nil && ctx.Err() != nil:
		err = standard(CodeDraining)
	case f.begun && (errors.Is(err, errLeft) || ctx.Err() != nil):
		return nil // nobody is there who could be told
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

// nothingAfter tells whether all logs ended at a place not long ago. Feeds for which nothing comes ask that
// together, instead of each its own question to every cell.
func (s *Server) nothingAfter(ctx context.Context, at changelog.Watermark, age time.Duration) bool {
	tail, err := s.tail.get(ctx, age, func(ctx context.Context) (changelog.Watermark, error) { return s.svc.Changes().Tail(ctx, nil) })
	return err == nil && maps.Equal(tail, at)
}

// feedQuery reads which changes are to be followed. Who comes again says where it was in a header, while the
// address stays the same.
func (s *Server) feedQuery(c *call) (changes.Query, error) {
	q, err := s.changeQuery(c)
	if err != nil {
		return q, err
	}
	if _, given := c.query["limit"]; given {
		return q, fault(CodeInvalid, "?limit", "a feed of events has no limit: leave when you have enough")
	}
	q.Limit = locus.MaxLimit
	if text := strings.Join(c.r.Header[lastEventID], ","); text != "" {
		if q.After, err = changelog.ParseWatermark(text); err != nil {
			return q, fault(CodeInvalid, "", "the header Last-Event-ID is %.60q: want the id of an event of this feed", text)
		}
	}
	return q, nil
}

// feed is an answer that goes on for as long as somebody reads it.
type feed struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// at is the place up to which everything was written, nil to begin at the end of the log.
	at changelog.Watermark
	// read answers with what comes after a place, and the place after that; of nil with the end of the log.
	// It may be behind by a part of the time for which nothing came.
	read  func(ctx context.Context, after changelog.Watermark, idle time.Duration) ([]changes.Change, changelog.Watermark, error)
	begun bool
	wrote time.Time
}

// errLeft says that nobody reads any more.
var errLeft = errors.New("the reader has left")

// follow writes changes as they come, until something ends it.
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

// write hands changes to the reader, or a sign of life if there was none for a while.
func (f *feed) write(changes []changes.Change, next changelog.Watermark) error {
	if !f.begun {
		h := f.w.Header()
		h.Set("Content-Type", mediaEvents)
		h.Set("X-Accel-Buffering", "no") // a proxy must not collect events
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

// event writes one event.
func (f *feed) event(kind string, id changelog.Watermark, data any) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "event: %s\n", kind)
	if id != nil {
		fmt.Fprintf(&text, "id: %v\n", id)
	}
	text.WriteString("data: ")
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil { // a line
		return err
	}
	text.WriteByte('\n')
	f.wrote = time.Now()
	_ = f.control.SetWriteDeadline(f.wrote.Add(streamWrite)) // without a network there is none
	if _, err := f.w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}
