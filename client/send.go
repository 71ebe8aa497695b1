// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/internal/problem"
)

const (
	// maxBytes limits a batch; a server accepts 1 MiB.
	maxBytes  = 1<<20 - 64
	maxAnswer = 4 << 20
	// pauseLeast and pauseMost bound the pauses between retries.
	pauseLeast = 20 * time.Millisecond
	pauseMost  = 5 * time.Second
)

// encode encodes a hit, and refuses values that JSON cannot represent.
func encode(h *counter.Hit) ([]byte, error) {
	if !utf8.ValidString(string(h.Metric)) {
		return nil, problem.Invalid("/metric", "invalid", "the name is not valid UTF-8")
	}
	if len(h.Metric) > counter.MaxMetric {
		return nil, problem.Invalid("/metric", "invalid", "the name has %d bytes, more than %d", len(h.Metric),
			counter.MaxMetric)
	}
	hit := struct {
		Metric string `json:"metric"`
		At     string `json:"at"`
		N      *int64 `json:"n,omitempty"`
		Value  *int64 `json:"value,omitempty"`
	}{Metric: string(h.Metric), At: h.At.UTC().Format(time.RFC3339Nano)}
	if hit.N = &h.N; h.Kind == counter.Gauge {
		hit.N, hit.Value = nil, &h.N
	}
	return json.Marshal(hit)
}

// run sends batches, one after the other.
func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	for {
		batch, closed := c.take()
		switch {
		case len(batch) > 0:
			c.deliver(ctx, batch)
		case closed:
			return
		default:
			select {
			case <-c.wake:
			case <-ctx.Done():
			}
		}
	}
}

func (c *Client) take() (batch []*pending, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, size := 0, 0
	for n < len(c.queue) && n < counter.MaxBatch && size+len(c.queue[n].text) < maxBytes {
		size += len(c.queue[n].text) + 1
		c.queue[n].state = sent
		n++
	}
	batch = append(batch, c.queue[:n]...)
	rest := copy(c.queue, c.queue[n:])
	clear(c.queue[rest:])
	c.queue = c.queue[:rest]
	if n > 0 {
		c.roomier()
	}
	return batch, c.closed
}

// deliver sends a batch until all of it is answered, or Patience has passed. In either case the next batch has a higher
// number, so a request of this batch that is still in flight is refused then.
func (c *Client) deliver(ctx context.Context, batch []*pending) {
	if ctx.Err() != nil {
		c.answer(batch, func(int) error { return counter.ErrClosed })
		return
	}
	c.seq++
	body := []byte(`{"hits":[`)
	for i, p := range batch {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, p.text...)
	}
	body = append(body, "]}"...)
	patience, cancel := context.WithTimeout(ctx, c.opts.Patience)
	defer cancel()
	lost := false // a reply was lost: a hit that a later reply refuses may have been counted
	for try := 0; ; try++ {
		results, after, err := c.post(patience, body, len(batch))
		if err != nil {
			lost = lost || unsure(err)
			results = nil
			if final(err) {
				c.answer(batch, func(int) error { return unconfirmedIf(lost, err) })
				return
			}
		}
		left := c.settle(batch, results, &lost)
		if err == nil && left == nil {
			return
		}
		if err == nil {
			err = left
		}
		if !pause(patience, c.pauseOf(try, after)) {
			c.answer(batch, func(i int) error {
				if results != nil && results[i] != nil {
					return unconfirmedIf(lost && !decided(results[i]), results[i])
				}
				return unconfirmedIf(lost, err)
			})
			return
		}
	}
}

// settle answers the counted hits and, if no hit is left to retry, also the refused ones: a retry may succeed for
// a refused hit. It returns the first error that needs a retry.
func (c *Client) settle(batch []*pending, results []error, lost *bool) (left error) {
	for _, err := range results {
		if err != nil && !final(err) {
			*lost = *lost || unsure(err)
			if left == nil {
				left = err
			}
		}
	}
	if results == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range batch {
		if results[i] == nil {
			p.answer(nil)
		} else if left == nil {
			p.answer(unconfirmedIf(*lost && !decided(results[i]), results[i]))
		}
	}
	return left
}

// answer sets the results of all unanswered hits of a batch.
func (c *Client) answer(batch []*pending, result func(i int) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range batch {
		p.answer(result(i))
	}
}

// answer sets the result once. The client's mutex must be held.
func (p *pending) answer(result error) {
	if p.state == answered {
		return
	}
	p.state, p.result = answered, result
	if p.call.left--; p.call.left == 0 {
		close(p.call.done)
	}
}

// post sends a batch once. results are those of its hits; after is the server's Retry-After.
func (c *Client) post(ctx context.Context, body []byte, hits int) (results []error, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	c.authorize(r)
	r.Header.Set("Locus-Producer", hex.EncodeToString(c.producer[:]))
	r.Header.Set("Locus-Seq", strconv.FormatUint(c.seq, 10))
	reply, err := c.http.Do(r)
	if err != nil {
		return nil, 0, unanswered(err)
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxAnswer))
	err = errors.Join(err, reply.Body.Close())
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%w: read the answer: %w", counter.ErrCommitUnknown, err)
	case reply.StatusCode != http.StatusOK:
		if seconds, err := strconv.Atoi(reply.Header.Get("Retry-After")); err == nil && seconds > 0 {
			after = time.Duration(min(seconds, 60)) * time.Second
		}
		return nil, after, refusal(reply.StatusCode, text)
	}
	var answer struct {
		Results []struct {
			Error *Error `json:"error"`
		} `json:"results"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Results) != hits {
		return nil, 0, fmt.Errorf("%w: the answer is not that of a Locus server", counter.ErrCommitUnknown)
	}
	results = make([]error, hits)
	for i := range answer.Results {
		if e := answer.Results[i].Error; e != nil {
			results[i] = e
		}
	}
	return results, 0, nil
}

// pauseOf returns the pause before the next try: a random time with an exponential limit, so that clients refused
// together do not return together, plus the time that the server asked for.
func (c *Client) pauseOf(try int, after time.Duration) time.Duration {
	most := min(pauseLeast<<min(try, 20), pauseMost)
	return after + time.Duration(c.opts.Rand()*float64(most))
}

// pause waits, and reports whether the time was available.
func pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	return delay.For(ctx, d) == nil
}
