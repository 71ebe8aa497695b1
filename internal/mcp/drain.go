// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTime limits how long the end of the input waits for responses; a request to the API takes at most a minute.
const drainTime = time.Minute

// draining is a transport whose input ends only after all calls have their responses: without it, the end of a pipe
// would cancel the calls before it. A line that is no message is refused, and the session goes on.
type draining struct {
	in  io.Reader
	out io.Writer
}

// Connect implements sdk.Transport.
func (t draining) Connect(ctx context.Context) (sdk.Connection, error) {
	out := &output{w: t.out}
	in := &lines{in: bufio.NewReader(t.in), refuse: out.refuse}
	c, err := (&sdk.IOTransport{Reader: io.NopCloser(in), Writer: out, MaxLineLength: -1}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: c, refuse: out.refuse, open: map[any]bool{}, closed: make(chan struct{})}, nil
}

type drainingConn struct {
	sdk.Connection
	refuse refuse

	once   sync.Once
	closed chan struct{}

	mu   sync.Mutex
	open map[any]bool  // ids of calls without a response
	done chan struct{} // closed when open becomes empty after the end of the input
}

// Read implements sdk.Connection.
func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	for err != nil && !c.ended(ctx, err) { // JSON that is no message
		if failed := c.refuse(jsonrpc.CodeInvalidRequest, err.Error()); failed != nil {
			return nil, failed
		}
		m, err = c.Connection.Read(ctx)
	}
	if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() {
		c.mu.Lock()
		c.open[call.ID.Raw()] = true
		c.mu.Unlock()
	}
	if err == nil {
		return m, nil
	}
	done := make(chan struct{})
	c.mu.Lock()
	if len(c.open) == 0 {
		close(done)
	} else {
		c.done = done
	}
	c.mu.Unlock()
	late := time.NewTimer(drainTime)
	defer late.Stop()
	select {
	case <-done:
	case <-c.closed:
	case <-ctx.Done():
	case <-late.C:
	}
	return m, err
}

// ended reports whether nothing is read after err.
func (c *drainingConn) ended(ctx context.Context, err error) bool {
	select {
	case <-c.closed:
		return true
	default:
	}
	_, failed := errors.AsType[*inputError](err)
	return failed || ctx.Err() != nil || errors.Is(err, io.EOF)
}

// Write implements sdk.Connection.
func (c *drainingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if response, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.open, response.ID.Raw()); len(c.open) == 0 && c.done != nil {
			close(c.done)
			c.done = nil
		}
	}
	return err
}

// Close implements sdk.Connection.
func (c *drainingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
