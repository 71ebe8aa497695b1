// SPDX-License-Identifier: Apache-2.0

package locality

const (
	// localLease is how many counters a Local takes at once, maxLease the maximum of Options.Lease.
	localLease = 256
	maxLease   = 1 << 16
	// leaseMillis is how long it may use them: the counter repeats after 429 s at 10 M IDs/s, and a block must not be
	// in use by a suspended goroutine when its counters come round again.
	leaseMillis = 1000
)

// Local mints IDs for one goroutine, from blocks of counters that it takes from its generator, so that processors do
// not contend: each ID costs only a clock reading. Up to 256 IDs of one Local are consecutive in the generator's order;
// counters not used after a second are dropped. A table that gets only the first IDs of many blocks is spread less
// evenly. Use one per goroutine and for a short time: it is not safe for concurrent use.
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

// New mints an ID.
func (l *Local) New() (id ID) {
	st, ms := l.g.now(1)
	if st != l.st || l.left == 0 || ms >= l.until {
		n := l.size
		if !l.g.shortcut {
			n = 1 // Options.Now is read, and counted, for each ID
		}
		l.st, l.c, l.left, l.until = st, st.take(n), n, ms+leaseMillis
	}
	l.left--
	l.c += st.stride
	st.put(&id, st.order.position(l.c, st.key), ms)
	return id
}
