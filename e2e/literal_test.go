// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"context"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest/literal"
	"github.com/locus-db/locus/storage"
)

// control also puts the keys of a traffic by the literal scheme: the same keys at the same times, in the same
// databases, through as many routers as there are processes, each of which reads the newest map every lazyKeys keys.
type control struct {
	tr      *traffic
	scheme  *literal.Scheme
	routers []*literal.Router

	mu      sync.Mutex
	answers map[entity.Ref]map[int64]bool
	failed  int // puts, because a database was away
}

const lazyKeys = 240

func (tr *traffic) literally(cells *storage.Cells) *control {
	c := &control{tr: tr, answers: map[entity.Ref]map[int64]bool{}}
	c.scheme = literal.New(func() (*cell.Map, error) {
		err := cells.Refresh(tr.t.Context())
		return cells.Map(), err
	}, lazyKeys)
	for i := range tr.fleet.nodes {
		c.routers = append(c.routers, c.scheme.Router(lazyKeys*i/len(tr.fleet.nodes)))
	}
	tr.also = c.put
	tr.t.Cleanup(func() { _ = c.scheme.Close(context.Background()) })
	return c
}

// put puts keys after the process of that number has.
func (c *control) put(node int, refs []entity.Ref) {
	for _, ref := range refs {
		puid, err := c.routers[node].Put(c.tr.t.Context(), ref.Source, ref.Key)
		c.mu.Lock()
		switch {
		case err != nil:
			c.failed++
		case c.answers[ref] == nil:
			c.answers[ref] = map[int64]bool{puid: true}
		default:
			c.answers[ref][puid] = true
		}
		c.mu.Unlock()
	}
}

// verdict checks that under the same load the literal scheme fails in the way the protocol prevents.
func (c *control) verdict(s *summary, m *cell.Map) {
	c.tr.t.Helper()
	keys, twice, err := c.scheme.Count(c.tr.t.Context(), m)
	if err != nil {
		c.tr.t.Fatal(err)
	}
	contradicted := 0
	for _, puids := range c.answers {
		if len(puids) > 1 {
			contradicted++
		}
	}
	c.tr.t.Logf("the literal scheme: %d of %d keys with two puids, %d answered with two (%d puts failed); the protocol: 0 of %d, 0", twice, keys, contradicted, c.failed, len(s.puids))
	if twice == 0 || contradicted == 0 {
		c.tr.t.Error("the literal scheme gave no key two puids: this load proves nothing")
	}
}
