// SPDX-License-Identifier: Apache-2.0

package locality

const (
	// localLease is how many counters a Local takes at once, maxLease how many one may
	// be asked to.
	localLease = 256
	maxLease   = 1 << 16
	// leaseMillis is how long it may use them: the counter comes round after 429 s at
	// 10 M ids/s, and a block must not be used by one who slept when it is taken again.
	leaseMillis = 1000
)

// Local mints ids for one goroutine, from blocks of counters that it takes from its
// generator, so that processors do not wait for each other: each id costs only a
// look at the clock. Ids of one Local follow each other in the generator's order
// for up to 256 at a time; what it has not used after a second is dropped. A table
// that gets only the first ids of many blocks is spread less evenly. Use one per
// goroutine and not for long: it is not safe for two.
type Local struct {
	g    *Generator
	size int
	st   *state
	c    uint32
	// left counters may be used before the time reaches until.
	left  int
	until int64
}

// Local returns a minter for the calling goroutine.
func (g *Generator) Local() *Local { return &Local{g: g, size: localLease} }

// New mints an id.
func (l *Local) New() (id ID) {
	st, ms := l.g.now(1)
	if st != l.st || l.left == 0 || ms >= l.until {
		n := l.size
		if !l.g.shortcut {
			n = 1 // a clock of its own is asked, and counted, for each id
		}
		l.st, l.c, l.left, l.until = st, st.take(n), n, ms+leaseMillis
	}
	l.left--
	l.c += st.stride
	st.put(&id, st.order.position(l.c, st.key), ms)
	return id
}
