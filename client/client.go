// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/secret"
)

// Options of New. Nil is the default.
type Options struct {
	// HTTP sends the requests. Defaults to a new client.
	HTTP *http.Client
	// Token is sent with every request, "" for none. It needs https, except to this machine.
	Token string
	// Waiting is the length of the queue in hits; Add blocks while it is full. Defaults to 10,000.
	Waiting int
	// Timeout limits one request. Defaults to 15 s, longer than a server works on one.
	Timeout time.Duration
	// Patience is how long a request is retried. That includes a batch without a complete reply, while later batches
	// wait behind it. Defaults to 30 s.
	Patience time.Duration
	// Now is the clock for hits without a time. Defaults to time.Now.
	Now func() time.Time
	// Rand returns a number in [0, 1) to randomise retry pauses. Defaults to math/rand.
	Rand func() float64
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.HTTP == nil {
		d.HTTP = &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: 10 * time.Second,
		}}
	}
	if d.Waiting == 0 {
		d.Waiting = 10_000
	}
	if d.Timeout == 0 {
		d.Timeout = 15 * time.Second
	}
	if d.Patience == 0 {
		d.Patience = 30 * time.Second
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Rand == nil {
		d.Rand = mathrand.Float64
	}
	return d
}

// Client calls the operations of a server, and counts hits through a queue. It is safe for concurrent use; concurrent
// callers of Add share requests.
type Client struct {
	opts     Options // without Token
	token    secret.Text
	http     http.Client
	base     string // of the server
	url      string // of hits
	producer counter.Producer
	seq      uint64 // of the last batch; used by the sender only

	mu     sync.Mutex
	queue  []*pending
	room   chan struct{} // closed when the queue has become shorter
	closed bool
	wake   chan struct{} // the sender has something to do
	done   chan struct{} // the sender has ended
	end    context.CancelFunc
}

type pending struct {
	call   *call
	index  int
	text   []byte // JSON
	result error
	state  state
}

// state is the state of a hit, guarded by the client's mutex.
type state uint8

const (
	waiting  state = iota // in the queue: it can still be taken back
	sent                  // part of a batch that was sent
	answered              // result is set
)

// call is an Add in progress.
type call struct {
	left int // hits without an answer
	done chan struct{}
}

// New returns a client of the server at a URL such as http://127.0.0.1:7070. It starts a goroutine, which Close
// ends; nothing is sent before the first hit.
func New(server string, opts *Options) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("client: want the URL of a server such as http://127.0.0.1:7070")
	}
	o := opts.withDefaults()
	if o.Waiting < 0 || o.Timeout < 0 || o.Patience < 0 {
		return nil, fmt.Errorf("client: an option is negative: Waiting %d, Timeout %v, Patience %v", o.Waiting,
			o.Timeout, o.Patience)
	}
	if o.Token != "" && u.Scheme != "https" && !loopback(u.Hostname()) {
		return nil, errors.New("client: a token is sent only over https, except to this machine: others could read it on the way")
	}
	ctx, end := context.WithCancel(context.Background())
	base, token := strings.TrimSuffix(u.String(), "/"), secret.New(o.Token)
	o.Token = ""
	c := &Client{
		opts: o, token: token, http: *o.HTTP, base: base, url: base + "/v1/hits",
		room: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{}), end: end,
	}
	// A redirect could count a hit at two servers.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	_, _ = rand.Read(c.producer[:]) // never fails
	go c.run(ctx)
	return c, nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// authorize adds the token to a request.
func (c *Client) authorize(r *http.Request) {
	if !c.token.Empty() {
		r.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
}

// Hit counts one hit now, and returns when it is durable.
func (c *Client) Hit(ctx context.Context, metric counter.Metric) error {
	results, err := c.Add(ctx, []counter.Hit{{Metric: metric, N: 1}})
	if err != nil {
		return err
	}
	return results[0]
}

// Add counts hits and returns when they are durable. The result of each hit is nil, or the reason why it was not
// counted, or wraps counter.ErrCommitUnknown. Hits without a time get the current time. If the error is not nil,
// nothing was sent.
//
// When the context ends, hits not sent yet are taken back, and the outcome of the others is unknown: the client
// continues to send them.
func (c *Client) Add(ctx context.Context, hits []counter.Hit) ([]error, error) {
	of := &call{left: len(hits), done: make(chan struct{})}
	all := make([]*pending, len(hits))
	now := c.opts.Now()
	for i, h := range hits {
		if h.At.IsZero() {
			h.At = now
		}
		p := &pending{call: of, index: i}
		if p.text, p.result = encode(&h); p.result != nil {
			p.state = answered
			of.left--
		}
		all[i] = p
	}
	if of.left > 0 {
		if err := c.enqueue(ctx, all); err != nil {
			return nil, err
		}
		select {
		case <-of.done:
		case <-ctx.Done():
			if c.takeBack(ctx, all) {
				return nil, fmt.Errorf("%w: %w", counter.ErrOverloaded, context.Cause(ctx))
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	results := make([]error, len(all))
	for i, p := range all {
		if results[i] = p.result; p.state != answered {
			results[i] = fmt.Errorf("%w: %w", counter.ErrCommitUnknown, context.Cause(ctx))
		}
	}
	return results, nil
}

// enqueue adds the unanswered hits to the queue, as soon as there is room for one of them.
func (c *Client) enqueue(ctx context.Context, all []*pending) error {
	for {
		c.mu.Lock()
		switch {
		case c.closed:
			c.mu.Unlock()
			return counter.ErrClosed
		case len(c.queue) < c.opts.Waiting:
			for _, p := range all {
				if p.state == waiting {
					c.queue = append(c.queue, p)
				}
			}
			c.mu.Unlock()
			c.poke()
			return nil
		}
		room := c.room
		c.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("%w: wait for room: %w", counter.ErrOverloaded, context.Cause(ctx))
		}
	}
}

// takeBack removes unsent hits from the queue, and reports whether these are all.
func (c *Client) takeBack(ctx context.Context, all []*pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := true
	for _, p := range all {
		switch p.state {
		case waiting:
			p.state, p.result = answered, fmt.Errorf("%w: not sent yet: %w", counter.ErrOverloaded, context.Cause(ctx))
		default:
			whole = false
		}
	}
	kept := c.queue[:0]
	for _, p := range c.queue {
		if p.state == waiting {
			kept = append(kept, p)
		}
	}
	clear(c.queue[len(kept):])
	c.queue = kept
	c.roomier()
	return whole
}

// roomier wakes callers that wait for room. The mutex must be held.
func (c *Client) roomier() {
	close(c.room)
	c.room = make(chan struct{})
}

func (c *Client) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Close refuses further hits, and returns when all accepted ones are answered. When the context ends, the rest is
// given up: unsent hits were not counted, the outcome of the others is unknown.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.poke()
	defer c.http.CloseIdleConnections()
	defer c.end()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	}
	c.end()
	<-c.done
	return context.Cause(ctx)
}
