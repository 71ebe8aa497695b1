// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine limits a message of the client, in bytes.
const maxLine = 16 << 20

// refuse tells the client that a line is no message. It has no id, since a line that cannot be read has none.
type refuse func(code int64, reason string) error

// lines passes on the lines of its input that are JSON. The others are refused: the decoder of the SDK would end the
// session.
type lines struct {
	in     *bufio.Reader
	refuse refuse
	rest   []byte // of the line that is being read
}

// inputError is an error of the input itself, after which nothing can be read.
type inputError struct{ err error }

func (e *inputError) Error() string { return "read the input: " + e.err.Error() }

func (e *inputError) Unwrap() error { return e.err }

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, long, err := l.next()
		switch {
		case err != nil && err != io.EOF:
			return 0, &inputError{err}
		case long:
			err = cmp.Or(l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has more than %d bytes", maxLine)), err)
		case len(line) == 0: // blank
		case json.Valid(line):
			l.rest, err = append(line, '\n'), nil
		default:
			err = cmp.Or(l.refuse(jsonrpc.CodeParseError, "a line is not JSON: each message is one line of JSON"), err)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next returns the next line without the blanks around it, and reports whether it was too long to be kept.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimSpace(line), long, err
		}
	}
}

// output writes the messages of the server, each whole, and leaves the writer open.
type output struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// Close implements io.Closer.
func (o *output) Close() error { return nil }

func (o *output) refuse(code int64, reason string) error {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": jsonrpc.Error{Code: code, Message: clip(reason, 200)},
	})
	if err != nil {
		return err
	}
	_, err = o.Write(append(line, '\n'))
	return err
}
