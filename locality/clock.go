// SPDX-License-Identifier: Apache-2.0

package locality

import "time"

const (
	// anchorEvery is how long a lane trusts the monotonic clock alone. Two clones of
	// a machine show one millisecond until they look at the wall clock again, so it
	// is short.
	anchorEvery = 10 * time.Millisecond
	// maxBehind is how far the wall clock may fall behind before the identity is
	// given up; up to it the lane's own time runs on at half speed.
	maxBehind = 10 * time.Second
	// maxAhead is how far the wall clock may run ahead of the monotonic one before
	// the identity is given up: a machine that slept may have been copied.
	maxAhead = time.Second
)

// processStart carries the monotonic reading that time.Since subtracts.
var processStart = time.Now()

// clock is the time of one lane: it never goes back unless it says so. Reading
// the monotonic clock costs half of reading the wall clock, which is asked only
// every anchorEvery. A lane's mutex guards it.
type clock struct {
	// own replaces both clocks below; it is read for each id.
	own  func() time.Time
	mono func() time.Duration
	wall func() time.Time

	started bool
	// anchored is the monotonic time of the last look at the wall clock, last the
	// lane's time then: nanoseconds since 1970, or milliseconds under a clock of its
	// own.
	anchored time.Duration
	last     int64
	// slow is 1 while the wall clock is behind: the lane's time runs at half speed.
	slow uint8
}

func newClock(own func() time.Time) clock {
	return clock{own: own, mono: sinceStart, wall: time.Now}
}

func sinceStart() time.Duration { return time.Since(processStart) }

// read returns the lane's time in milliseconds, whether it looked beyond the
// monotonic clock, and whether the wall clock jumped so far that the identity is
// no longer safe.
func (c *clock) read() (ms int64, looked, jumped bool) {
	if c.own != nil {
		ms, jumped = c.readOwn()
		return ms, true, jumped
	}
	mono := c.mono()
	elapsed := mono - c.anchored
	lane := c.last + int64(elapsed>>c.slow)
	if c.started && elapsed >= 0 && elapsed < anchorEvery {
		return lane / int64(time.Millisecond), false, false
	}
	wall := c.wall().UnixNano()
	behind := time.Duration(lane - wall)
	c.anchored, c.slow = mono, 0
	switch {
	case !c.started, behind <= 0 && -behind <= maxAhead:
		c.last = wall
	case behind > 0 && behind <= maxBehind:
		c.last, c.slow = lane, 1
	default:
		c.last, jumped = wall, true
	}
	c.started = true
	return c.last / int64(time.Millisecond), true, jumped
}

// readOwn follows a clock that was passed in. Whether it ran ahead cannot be told
// from time that passed, and it has no monotonic half to run on with, so the
// lane's time stands while it is behind.
func (c *clock) readOwn() (ms int64, jumped bool) {
	now := c.own().UnixMilli()
	jumped = c.started && c.last-now > maxBehind.Milliseconds()
	if !c.started || jumped || now > c.last {
		c.last = now
	}
	c.started = true
	return c.last, jumped
}
