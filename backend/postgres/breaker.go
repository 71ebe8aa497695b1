// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
)

// breaker keeps a process from waiting for a cell that does not answer. After some failures in a row,
// lost connections and answers that did not come in time, it is open: everybody is refused at once, but
// for one in a while, who tries.
type breaker struct {
	now  func() time.Time
	rand func() float64

	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // when somebody may try, while it is open
	trying   bool
	reason   error
}

const (
	tolerance   = 3 // failures in a row until it opens
	shortestOff = 500 * time.Millisecond
	longestOff  = 10 * time.Second
)

// enter lets somebody pass, or says why not. Who passes must call leave.
func (b *breaker) enter() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < tolerance {
		return nil
	}
	if wait := b.until.Sub(b.now()); b.trying || wait > 0 {
		return fmt.Errorf("%w: not asked again after %d failures, tried in %v: %w",
			cell.ErrUnavailable, b.failures, max(wait, 0).Round(time.Millisecond), b.reason)
	}
	b.trying = true
	return nil
}

// errImpatient is the verdict of who left before the answer.
var errImpatient = errors.New("the caller lost patience")

// leave tells how it went: nil for any answer of the server.
func (b *breaker) leave(failure error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	switch {
	case failure == nil:
		b.failures = 0
		return
	case errors.Is(failure, errImpatient):
		return
	}
	b.failures++
	b.reason = failure
	if b.failures >= tolerance {
		off := min(shortestOff<<min(b.failures-tolerance, 10), longestOff)
		b.until = b.now().Add(off/2 + time.Duration(b.rand()*float64(off)))
	}
}
