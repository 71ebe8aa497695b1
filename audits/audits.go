// SPDX-License-Identifier: Apache-2.0

package audits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

const (
	// waiting limits the entries that wait for a commit, and those that are kept after a failed one.
	waiting = 1000
	// patience limits the time of a commit.
	patience = 5 * time.Second
	// summary is how often refusals are summed up, and the head of the chain is logged.
	summary = time.Minute
	// trimEvery is how often old rows are removed, and trimmed is how many at once.
	trimEvery = 24 * time.Hour
	trimmed   = 1000
)

// Handle writes, reads and verifies the audit log: DB.Audit of package locus. It is safe for concurrent use.
type Handle struct {
	engine *engine.Engine
	queue  chan *pending
	done   chan struct{}

	mu      sync.Mutex
	running bool
	closed  bool
	refused map[string]int // since the last summary
	summed  time.Time
	secret  []byte // of the hashes of keys

	// Of the writer.
	chain  *audit.Chain
	left   []*pending // entries "ended" whose commit failed
	logged time.Time
	trim   time.Time
}

// pending is an entry that waits for its commit.
type pending struct {
	entry audit.Entry
	head  audit.Head
	err   chan error // nil if its writer does not wait
}

// New returns the handle of an installation. It writes nothing until it is used.
func New(e *engine.Engine) *Handle {
	return &Handle{engine: e, queue: make(chan *pending, waiting), done: make(chan struct{}), refused: map[string]int{}}
}

// Action is an action that has begun. A nil one is that of a process which only reads.
type Action struct {
	log   *Handle
	begun *pending
}

// Begin stores that an action is about to begin. The error is of class locus.ErrUnavailable, and the action must not begin then. A
// process that was opened read-only stores nothing.
func (h *Handle) Begin(ctx context.Context, e audit.Entry) (*Action, error) {
	if h.engine.ReadOnly {
		return nil, nil //nolint:nilnil // a nil Action is one that is not stored
	}
	e.Phase = audit.Begun
	p := &pending{entry: e, err: make(chan error, 1)}
	if !h.send(p) {
		return nil, fmt.Errorf("%w: the audit log has %d entries to write", problem.ErrUnavailable, waiting)
	}
	select {
	case err := <-p.err:
		if err != nil {
			return nil, fmt.Errorf("%w: the audit log cannot be written: %w", problem.ErrUnavailable, err)
		}
		return &Action{h, p}, nil
	case <-ctx.Done():
		return nil, engine.Wrap(ctx.Err())
	}
}

// End stores how an action ended, with what is known of its targets by then. It does not wait.
func (a *Action) End(outcome string, targets ...string) {
	if a == nil {
		return
	}
	e := a.begun.entry
	e.Phase, e.Of, e.Outcome, e.Targets = audit.Ended, &a.begun.head, outcome, targets
	a.log.send(&pending{entry: e})
}

// Refused counts a request that was refused with a code. Counts are stored once a minute at most.
func (h *Handle) Refused(code string) {
	h.mu.Lock()
	h.refused[code]++
	due := time.Since(h.summed) > summary
	h.mu.Unlock()
	if due && !h.engine.ReadOnly {
		h.sum()
	}
}

// sum stores the counts of refusals.
func (h *Handle) sum() {
	h.mu.Lock()
	counts := h.refused
	h.refused, h.summed = map[string]int{}, time.Now()
	h.mu.Unlock()
	if len(counts) == 0 {
		return
	}
	e := audit.Entry{Phase: audit.Sum, Class: audit.Access, Action: "refuse"}
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		e.Targets = append(e.Targets, fmt.Sprintf("%s=%d", code, counts[code]))
	}
	h.send(&pending{entry: e})
}

// send passes an entry to the writer, and reports whether it took it. One that nothing waits for is taken if there is room.
func (h *Handle) send(p *pending) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if !h.running {
		h.running = true
		go h.write()
	}
	select {
	case h.queue <- p:
		return true
	default:
		return false
	}
}

// Close stores what waits. Later entries are refused.
func (h *Handle) Close() {
	h.sumIfAny()
	h.mu.Lock()
	running := h.running && !h.closed
	h.closed = true
	h.mu.Unlock()
	if running {
		close(h.queue)
		<-h.done
	}
}

func (h *Handle) sumIfAny() {
	h.mu.Lock()
	any := len(h.refused) > 0 && !h.engine.ReadOnly && !h.closed
	h.mu.Unlock()
	if any {
		h.sum()
	}
}
