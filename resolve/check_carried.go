// SPDX-License-Identifier: Apache-2.0

package resolve

import "github.com/locus-db/locus/entity"

// carried caches the blocking keys that records are posted under, because a posting names only one of them. It
// has two halves, like cache.
type carried struct{ young, old map[entity.PUID][]uint64 }

// mostCarried is the number of records per half, at about 200 bytes each.
const mostCarried = 100_000

func newCarried() *carried {
	c := &carried{}
	c.clear()
	return c
}

func (c *carried) clear() { c.young, c.old = map[entity.PUID][]uint64{}, nil }

func (c *carried) get(p entity.PUID) []uint64 {
	if c == nil {
		return nil
	}
	if f, ok := c.young[p]; ok {
		return f
	}
	return c.old[p]
}

// put stores the sorted blocking keys of a record and returns them.
func (c *carried) put(p entity.PUID, keys []uint64) []uint64 {
	if c != nil {
		if len(c.young) >= mostCarried {
			c.young, c.old = map[entity.PUID][]uint64{}, c.young
		}
		c.young[p] = keys
	}
	return keys
}
