// SPDX-License-Identifier: Apache-2.0

package resolve

import "github.com/locus-db/locus/entity"

// carried is the state that the first pass keeps from page to page.
type carried struct {
	// young and old cache the blocking keys that records are posted under, because a posting names only one of them.
	// They are two halves, like those of cache.
	young, old map[entity.PUID][]uint64
	// unsearched are entities that equal the expected ones and have not been looked for in the search index.
	unsearched []expected
}

// mostCarried is the number of records per half, at about 200 bytes each.
const mostCarried = 100_000

func newCarried() *carried {
	c := &carried{}
	c.clear()
	return c
}

func (c *carried) clear() { *c = carried{young: map[entity.PUID][]uint64{}} }

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
