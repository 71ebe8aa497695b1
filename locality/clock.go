// SPDX-License-Identifier: Apache-2.0

package locality

import "time"

const (
	// anchorEvery is how long a generator trusts the monotonic clock alone. Two clones
	// of a machine show one millisecond until they look at the wall clock again, so
	// it is short.
	anchorEvery = 10 * time.Millisecond
	// maxJitter is how far the wall clock may fall behind without notice: it and the
	// monotonic clock are not read at one instant.
	maxJitter = time.Millisecond
	// maxBehind is how far it may fall behind before the identity is given up; up to
	// it the generator's own time runs on at half speed.
	maxBehind = 10 * time.Second
	// maxAhead is how far it may run ahead of the monotonic clock before the identity
	// is given up: a machine that slept may have been copied.
	maxAhead = time.Second
)

// processStart carries the monotonic reading that time.Since subtracts.
var processStart = time.Now()

func sinceStart() time.Duration { return time.Since(processStart) }

// clock is the time of a generator: it never goes back unless it says so. A mutex
// guards it.
type clock struct {
	// own replaces both clocks below; it is read for each id.
	own  func() time.Time
	mono func() time.Duration
	wall func() time.Time
	// steady clocks never go back, however far the wall clock does, and so they never
	// jump.
	steady bool

	started bool
	// anchored is the monotonic time of the last look at the wall clock, last the
	// generator's time then: nanoseconds since 1970, or milliseconds under a clock of
	// its own.
	anchored time.Duration
	last     int64
	// slow is 1 while the wall clock is behind: time runs at half speed.
	slow uint8
	// spent counts the ids of one millisecond under a clock of its own.
	spent uint64
}

// read returns the time in milliseconds at which n ids are minted, and how far the
// wall clock jumped, negative for back, if that was so far that the identity is no
// longer safe.
func (c *clock) read(n int) (ms int64, jump time.Duration) {
	if c.own != nil {
		return c.readOwn(n)
	}
	mono := c.mono()
	elapsed := mono - c.anchored
	now := c.last + int64(elapsed>>c.slow)
	if c.started && elapsed >= 0 && elapsed < anchorEvery {
		return now / int64(time.Millisecond), 0
	}
	wall := c.wall().UnixNano()
	behind := time.Duration(now - wall)
	started := c.started
	c.started, c.anchored, c.last, c.slow = true, mono, wall, 0
	switch {
	case !started, behind <= 0 && (-behind <= maxAhead || c.steady):
	case behind > 0 && behind <= maxJitter:
		c.last = now
	case behind > 0 && (behind <= maxBehind || c.steady):
		c.last, c.slow = now, 1
	default:
		jump = -behind
	}
	return c.last / int64(time.Millisecond), jump
}

// readOwn follows a clock that was passed in. Whether it ran ahead cannot be told
// from time that passed, and it has no monotonic half to run on with, so time
// stands while it is behind. A clock that stands for a whole cycle of the counter
// is moved on.
func (c *clock) readOwn(n int) (ms int64, jump time.Duration) {
	now := c.own().UnixMilli()
	if back := c.last - now; c.started && back > maxBehind.Milliseconds() && !c.steady {
		jump = -time.Duration(back) * time.Millisecond
	}
	if !c.started || jump != 0 || now > c.last {
		c.last, c.spent = now, 0
	}
	if c.spent += uint64(n); c.spent > cycle {
		c.last, c.spent = c.last+1, uint64(n)
	}
	c.started = true
	return c.last, jump
}

// ahead returns what must be added to the monotonic time for the time of the
// generator, in nanoseconds, if that is all there is to it until the next look.
func (c *clock) ahead() (time.Duration, bool) {
	return time.Duration(c.last) - c.anchored, c.own == nil && c.slow == 0
}
