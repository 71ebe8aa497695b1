// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress shows the progress of work. On a terminal it rewrites one line; elsewhere it writes a new line now and then.
// It is safe for concurrent use.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	every    time.Duration
	now      func() time.Time
	last     time.Time
	open     bool   // the terminal shows an unfinished line
	written  string // the last line of Update elsewhere
}

// NewProgress returns a Progress that writes to w. Nil now means time.Now.
func NewProgress(w io.Writer, terminal bool, now func() time.Time) *Progress {
	p := &Progress{w: w, terminal: terminal, every: 5 * time.Second, now: now}
	if terminal {
		p.every = 100 * time.Millisecond
	}
	if now == nil {
		p.now = time.Now
	}
	p.last = p.now()
	return p
}

// Update writes the line that line returns, if the previous one is old enough: 0.1 s on a terminal, 5 s elsewhere.
func (p *Progress) Update(line func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); now.Sub(p.last) >= p.every {
		p.last = now
		p.write(line())
	}
}

// Restart makes the next line wait as if one had just been written. It is called after silent work.
func (p *Progress) Restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = p.now()
}

// Print writes a permanent line, unless Update has just written the same elsewhere than on a terminal.
func (p *Progress) Print(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(true)
	if line != p.written {
		fmt.Fprintln(p.w, line)
	}
	p.written = ""
}

// Close finishes the line on the terminal, so that it stays.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(false)
}

func (p *Progress) write(line string) {
	if !p.terminal {
		fmt.Fprintln(p.w, line)
		p.written = line
		return
	}
	fmt.Fprint(p.w, "\r\x1b[K", line)
	p.open = true
}

func (p *Progress) end(erase bool) {
	if !p.open {
		return
	}
	p.open = false
	if erase {
		fmt.Fprint(p.w, "\r\x1b[K")
		return
	}
	fmt.Fprintln(p.w)
}
