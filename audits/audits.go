// SPDX-License-Identifier: Apache-2.0

package audits

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

const (
	// waiting limits the entries that wait for a commit, and the entries kept after a failed one.
	waiting = 1000
	// patience limits the time of a commit.
	patience = 5 * time.Second
	// summary is how often refusals are summed up, and the head of the chain is logged.
	summary = time.Minute
	// trimEvery is how often old rows are removed, and trimmed is how many at once.
	trimEvery = 24 * time.Hour
	trimmed   = 1000
)

// Options configures the audit log of a process.
type Options struct {
	// Also are classes that are stored besides access, admin and decision: audit.Write, audit.Read, or both.
	Also []audit.Class
	// Copy, if set, gets every entry that this process has stored, as a line of JSON. Its errors are logged.
	Copy io.Writer
}

// Handle writes, reads and verifies the audit log: DB.Audit of package locus. It is safe for concurrent use.
type Handle struct {
	engine *engine.Engine
	stored map[audit.Class]bool
	copy   io.Writer // nil for none
	queue  chan *pending
	done   chan struct{}

	mu      sync.Mutex
	running bool
	closed  bool
	refused map[string]int // since the last summary
	summed  time.Time
	secret  []byte // of the hashes of keys

	failures atomic.Int64

	// Of the writer.
	chain  *audit.Chain
	left   []*pending // entries that nothing waits for, whose commit failed
	logged time.Time
	trim   time.Time
}

// pending is an entry that waits for its commit.
type pending struct {
	entry audit.Entry
	of    *pending // the entry "begun" that this one ends
	head  audit.Head
	err   chan error // nil if no caller waits
}

// New returns the handle of an installation. It writes nothing until it is used. opts may be nil.
func New(e *engine.Engine, opts *Options) *Handle {
	h := &Handle{
		engine: e, queue: make(chan *pending, waiting), done: make(chan struct{}), refused: map[string]int{},
		stored: map[audit.Class]bool{audit.Access: true, audit.Admin: true, audit.Decision: true},
	}
	if opts != nil {
		h.copy = opts.Copy
		for _, class := range opts.Also {
			h.stored[class] = true
		}
	}
	return h
}

// Failures returns how often this process could not write the log or its copy.
func (h *Handle) Failures() int64 { return h.failures.Load() }

// Stores reports whether actions of a class are stored. A process that was opened read-only stores none.
func (h *Handle) Stores(class audit.Class) bool { return !h.engine.ReadOnly && h.stored[class] }

// Action is an action that has begun. A nil one is not stored.
type Action struct {
	log   *Handle
	begun *pending
}

// Begin stores that an action is about to begin, unless its class is not stored. The error is of class
// locus.ErrUnavailable, and the action must not begin then.
func (h *Handle) Begin(ctx context.Context, e audit.Entry) (*Action, error) {
	if !h.Stores(e.Class) {
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

// Note stores that an action has begun, without waiting, for actions that have to happen even if the log cannot be
// written, such as the start of a server.
func (h *Handle) Note(e audit.Entry) *Action {
	if !h.Stores(e.Class) {
		return nil
	}
	e.Phase = audit.Begun
	p := &pending{entry: e}
	h.send(p)
	return &Action{h, p}
}

// End stores how an action ended, with the targets that are known by then. It does not wait.
func (a *Action) End(outcome string, targets ...string) {
	if a == nil {
		return
	}
	e := a.begun.entry
	e.Phase, e.Outcome, e.Targets = audit.Ended, outcome, targets
	a.log.send(&pending{entry: e, of: a.begun})
}

// Refused counts a request that was refused with a code. Counts are stored once a minute at most.
func (h *Handle) Refused(code string) {
	if h.engine.ReadOnly {
		return
	}
	h.mu.Lock()
	h.refused[code]++
	due := time.Since(h.summed) > summary
	h.mu.Unlock()
	if due {
		h.sum()
	}
}

// sum stores the counts of refusals, if there are any.
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

// send passes an entry to the writer, and reports whether it took it: if the handle is open and there is room.
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

// Close stores the waiting entries. Later entries are refused.
func (h *Handle) Close() {
	h.sum()
	h.mu.Lock()
	running := h.running && !h.closed
	h.closed = true
	h.mu.Unlock()
	if running {
		close(h.queue)
		<-h.done
	}
}
