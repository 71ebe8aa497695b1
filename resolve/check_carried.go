// SPDX-License-Identifier: Apache-2.0

package resolve

import "github.com/locus-db/locus/entity"

// carried remembers under which features records are posted: a posting names one of them only, and all are in other places. It
// has two halves, as cache has.
type carried struct{ young, old map[entity.PUID][]uint64 }

// mostCarried is how many records a half remembers, in about 200 bytes each.
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

// put remembers the features under which a record is posted, in their order, and returns them.
func (c *carried) put(p entity.PUID, features []uint64) []uint64 {
	if c != nil {
		if len(c.young) >= mostCarried {
			c.young, c.old = map[entity.PUID][]uint64{}, c.young
		}
		c.young[p] = features
	}
	return features
}
