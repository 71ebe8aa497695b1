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
)

// mediaLines is the type of an answer that is a stream of JSON lines.
const mediaLines = "application/jsonl"

// The types of the lines of a stream: any number of progress, then one of the others, or the answer was
// cut off and its outcome is unknown.
const (
	LineProgress = "progress"
	LineVerified = "verified" // what was found in one cell; between lines of progress
	// LineDifference is a row that is not what it should be; between lines of progress.
	LineDifference = "difference"
	LineResult     = "result"
	LineError      = "error" // has the fields of a Problem
)

// lineBeat is how long a stream is silent at most: a client that left is noticed, one that waits sees that
// the server is there.
const lineBeat = 5 * time.Second

// stream lets a route work for as long as it takes, and hands out its progress. The work ends when the client
// leaves or the server stops. What fails before the first line is refused as any request is.
func (s *Server) stream(c *call) (err error) {
	ctx, cut := context.WithCancelCause(c.Context)
	defer cut(nil)
	defer context.AfterFunc(s.streams, func() { cut(standard(CodeDraining)) })()
	c.Context = ctx
	out := &lines{w: c.w, control: http.NewResponseController(c.w), cut: cut}
	_ = out.control.SetReadDeadline(time.Time{}) // the body is read; what comes now is the client's leaving
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
	f := toFault(err, "")
	p := problem(f, c.w.Header().Get(requestIDHeader))
	s.note(c.r, p, err)
	out.write(LineError, p)
	return nil
}

// lines is an answer that is written line by line.
type lines struct {
	w       http.ResponseWriter
	control *http.ResponseController
	cut     context.CancelCauseFunc // ends the work, since nobody reads what comes of it

	mu    sync.Mutex
	begun bool
	fresh bool   // something was written since the last beat
	last  []byte // line of progress
}

// progress writes how far the work is, or a part of its result. It may be called by many goroutines.
func (l *lines) progress(v any) {
	switch v.(type) { // what is part of the result is not said twice
	case rollups.CellVerification:
		l.write(LineVerified, v)
	case cells.Difference:
		l.write(LineDifference, v)
	default:
		l.write(LineProgress, v)
	}
}

func (l *lines) write(kind string, v any) {
	line, err := lineOf(kind, v)
	if err != nil {
		panic(err) // a value that cannot be written is a bug, which the guard answers
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.begun = true
		h := l.w.Header()
		h.Set("Content-Type", mediaLines)
		h.Set("X-Accel-Buffering", "no") // a proxy must not collect lines
	}
	if kind == LineProgress {
		l.last = line
	}
	l.send(line)
}

// send hands a line to the client. l.mu is held.
func (l *lines) send(line []byte) {
	l.fresh = true
	_ = l.control.SetWriteDeadline(time.Now().Add(streamWrite)) // without a network there is none
	_, err := l.w.Write(line)
	if err == nil {
		err = l.control.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		l.cut(fmt.Errorf("write to the client: %w", err))
	}
}

// beat repeats the last line of progress whenever there was none for a while.
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

// lineOf writes an object with its type before its other fields.
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
