// SPDX-License-Identifier: Apache-2.0

package locality

import "time"

const (
	// anchorEvery is how long a generator relies on the monotonic clock alone. It is short because two clones of a
	// machine show the same millisecond until they read the wall clock again.
	anchorEvery = 10 * time.Millisecond
	// maxJitter is how far the wall clock may fall behind unnoticed: it and the monotonic clock are not read at the
	// same instant.
	maxJitter = time.Millisecond
	// maxBehind is how far the wall clock may fall behind before the identity changes; up to it the generator's own
	// time continues at half speed.
	maxBehind = 10 * time.Second
	// maxAhead is how far the wall clock may run ahead of the monotonic clock before the identity changes: a machine
	// that slept may have been copied.
	maxAhead = time.Second
)

// processStart carries the monotonic reading that time.Since subtracts.
var processStart = time.Now()

func sinceStart() time.Duration { return time.Since(processStart) }

// clock is the time of a generator: it never goes back unless it reports a jump. It is guarded by a mutex.
type clock struct {
	// own replaces both clocks below; it is read for each ID.
	own  func() time.Time
	mono func() time.Duration
	wall func() time.Time
	// steady clocks never go back, however far the wall clock does, and so they never jump.
	steady bool

	started bool
	// anchored is the monotonic time of the last reading of the wall clock, last the generator's time then: nanoseconds
	// since 1970, or milliseconds if own is set.
	anchored time.Duration
	last     int64
	// slow is 1 while the wall clock is behind: time runs at half speed.
	slow uint8
	// spent counts the IDs of one millisecond if own is set.
	spent uint64
}

// read returns the time in milliseconds at which n IDs are minted. jump is how far the wall clock jumped, negative for
// back, if that was so far that the identity is no longer safe, otherwise 0.
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

// readOwn reads the clock in own. It cannot detect a jump ahead, and without a monotonic clock time does not advance
// while own is behind. A clock that does not advance for a whole cycle of the counter is moved on.
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

// ahead returns the difference between the generator's time and the monotonic time, in nanoseconds, and reports whether
// it is valid until the wall clock is read again.
func (c *clock) ahead() (time.Duration, bool) {
	return time.Duration(c.last) - c.anchored, c.own == nil && c.slow == 0
}
