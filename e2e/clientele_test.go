// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

// clientele is a group of clients of a fleet, each sending one request after another until the end, and their results.
type clientele struct {
	t       *testing.T
	fleet   *fleet
	acks    atomic.Int64   // acknowledged requests
	read    atomic.Int64   // answers that were checked
	mu      sync.Mutex     // guards shared notes
	refused map[string]int // failed requests by code
	fills   bool           // disks are full at times: clients may be refused for that too
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// start returns the context that ends when the clients must end.
func (c *clientele) start() context.Context {
	ctx, cancel := context.WithCancel(c.t.Context())
	c.cancel = cancel
	c.t.Cleanup(c.end)
	return ctx
}

// end lets each client finish its current work.
func (c *clientele) end() {
	c.cancel()
	c.running.Wait()
}

// advance waits until so many more requests are acknowledged and answers checked.
func (c *clientele) advance(acks, read int64) {
	c.t.Helper()
	acks, read = c.acks.Load()+acks, c.read.Load()+read
	eventually(c.t, 2*time.Minute, "the clients go on", func() (bool, string) {
		done, seen := c.acks.Load(), c.read.Load()
		return c.t.Failed() || done >= acks &&
			seen >= read, fmt.Sprintf("%d acknowledged of %d, %d read of %d", done, acks, seen, read)
	})
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// rest pauses a client, so that the clients do not use the whole machine while a test waits for an event, such as the
// expiry of a lease or the start of a process.
func rest(ctx context.Context) {
	timer := time.NewTimer(time.Duration(scaled(250, 5)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// troubled are the codes that clients may see while processes are killed and stopped.
var troubled = map[string]bool{
	"connection": true, string(httpapi.CodeUnavailable): true, string(httpapi.CodeOverloaded): true,
	string(httpapi.CodeCommitUnknown): true, string(httpapi.CodeStaleMap): true,
}

// codeOf returns the code of an answer, or of a record in it.
func codeOf(err error) string {
	if p, ok := errors.AsType[*httpapi.Problem](err); ok {
		return string(p.Code)
	}
	if f, ok := errors.AsType[*httpapi.Fault](err); ok {
		return string(f.Code)
	}
	return "connection"
}

// refuse records a failed request and pauses.
func (c *clientele) refuse(n *node, what string, err error) {
	code := codeOf(err)
	if !troubled[code] && (code != string(httpapi.CodeNoRoom) || !c.fills) {
		c.t.Errorf("process %d, %s: %s: %v", n.index, what, code, err)
	}
	c.mu.Lock()
	c.refused[code]++
	c.mu.Unlock()
	rest(c.t.Context())
}

// attempts is how many times a client tries to finish work that it has begun.
const attempts = 3000

// again records a refusal, pauses, and reports whether to try once more. A client finishes work that it has begun even
// when the clients must end, unless the test has failed.
func (c *clientele) again(client int, n *node, attempt int, err error) bool {
	if attempt == attempts {
		c.t.Errorf("client %d is refused for ever: %v", client, err)
	}
	c.refuse(n, "write", err)
	return !c.t.Failed()
}

// refusals describes how often clients were refused.
func (c *clientele) refusals() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.refused)
}
