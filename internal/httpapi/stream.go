// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/sink"
)

// mediaLines is the media type of a stream of JSON lines.
const mediaLines = "application/jsonl"

// Types of the lines of a stream: any number of progress lines, then a result or an error. Without the last line, the
// answer was cut off and the outcome is unknown.
const (
	LineProgress = "progress"
	LineVerified = "verified" // the result for one cell, between lines of progress
	// LineDifference is a row that differs from its recomputation, between lines of progress.
	LineDifference = "difference"
	LineResult     = "result"
	LineError      = "error" // has the fields of a Problem
)

// lineBeat is the maximum time without a line: it detects that a client has left, and shows a waiting client that the
// server is alive.
const lineBeat = 5 * time.Second

// stream runs a route for as long as it takes and sends its progress. The work ends when the client leaves or the
// server stops. An error before the first line is answered like that of any request.
func (s *Server) stream(c *call) (err error) {
	ctx, cut := context.WithCancelCause(c.Context)
	defer cut(nil)
	defer context.AfterFunc(s.streams, func() { cut(standard(CodeDraining)) })()
	c.Context = ctx
	out := &lines{w: c.w, control: http.NewResponseController(c.w), cut: cut}
	_ = out.control.SetReadDeadline(time.Time{}) // the body is read; the next event is the client leaving
	result, err := func() (any, error) {
		beating := make(chan struct{})
		stop, stopped := context.WithCancel(ctx)
		go func() { defer close(beating); out.beat(stop) }()
		defer func() { stopped(); <-beating }()
		return c.route.stream(c, out.progress)
	}()
	if err == nil {
		out.write(LineResult, result)
		return nil
	}
	if s.streams.Err() != nil && ctx.Err() != nil {
		err = standard(CodeDraining)
	}
	if !out.begun {
		return err
	}
	err = outspoken(err)
	c.failed = err
	f := toFault(err, "")
	p := problem(f, c.w.Header().Get(requestIDHeader))
	s.note(c.r, p, err)
	out.write(LineError, p)
	return nil
}

// lines is an answer written line by line.
type lines struct {
	w       http.ResponseWriter
	control *http.ResponseController
	cut     context.CancelCauseFunc // ends the work when the client has left

	mu    sync.Mutex
	begun bool
	fresh bool   // written to since the last beat
	last  []byte // last line of progress
}

// progress writes progress, or a part of the result. It is safe for concurrent use.
func (l *lines) progress(v any) {
	switch v.(type) { // parts of the result are not repeated by beat
	case rollups.CellVerification:
		l.write(LineVerified, v)
	case cells.Difference, sink.Difference:
		l.write(LineDifference, v)
	default:
		l.write(LineProgress, v)
	}
}

func (l *lines) write(kind string, v any) {
	line, err := lineOf(kind, v)
	if err != nil {
		panic(err) // an unmarshalable value is a bug, answered by the guard
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.begun = true
		h := l.w.Header()
		h.Set("Content-Type", mediaLines)
		h.Set("X-Accel-Buffering", "no") // keeps proxies from buffering lines
	}
	if kind == LineProgress {
		l.last = line
	}
	l.send(line)
}

// send writes a line to the client. l.mu is held.
func (l *lines) send(line []byte) {
	l.fresh = true
	_ = l.control.SetWriteDeadline(time.Now().Add(streamWrite)) // fails without a network
	_, err := l.w.Write(line)
	if err == nil {
		err = l.control.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		l.cut(fmt.Errorf("write to the client: %w", err))
	}
}

// beat repeats the last line of progress if there was none for a while.
func (l *lines) beat(ctx context.Context) {
	tick := time.NewTicker(lineBeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.mu.Lock()
			if !l.fresh && l.last != nil {
				l.send(l.last)
			}
			l.fresh = false
			l.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// lineOf writes an object with its type as the first field.
func lineOf(kind string, v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	line := fmt.Appendf(nil, `{"type":%q`, kind)
	if rest := bytes.TrimSpace(body.Bytes()); len(rest) > len("{}") {
		line = append(append(line, ','), rest[1:len(rest)-1]...)
	}
	return append(line, "}\n"...), nil
}
