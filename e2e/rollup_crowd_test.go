// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
)

// crowd are clients that put, change and delete places. Each writes its own source and remembers its records, so that
// it can check a rollup. Every two clients share places, so that records join and split.
type crowd struct {
	clientele
	members []*member
	// still is locked to prevent changes for a while.
	still sync.RWMutex
	// marked covers everything acknowledged. mu guards it.
	marked changelog.Watermark
}

// member is a client that sends one request after another.
type member struct {
	*crowd
	n        int
	random   *rand.Rand
	has      map[string]httpapi.Attributes // by key
	revision int
	// mark covers everything that it did, except writes whose reply, and so watermark, was lost.
	mark changelog.Watermark
	lost bool
}

// keys is how many keys a client puts repeatedly.
const keys = 24

func newCrowd(f *fleet, members int, seed uint64) *crowd {
	c := &crowd{clientele: clientele{t: f.t, fleet: f, refused: map[string]int{}}}
	for n := range members {
		c.members = append(c.members, &member{crowd: c, n: n, random: rand.New(rand.NewPCG(seed, uint64(n))),
			has: map[string]httpapi.Attributes{}})
	}
	return c
}

// begin starts the clients and the readers: one reader for each process, and one that alternates between processes.
func (c *crowd) begin() {
	ctx := c.start()
	for _, m := range c.members {
		c.running.Go(func() {
			for ctx.Err() == nil {
				m.step()
				rest(ctx)
			}
		})
	}
	for i, n := range c.fleet.nodes {
		c.running.Go(func() { c.forward(ctx, standingRollups[i%2], func(int) *node { return n }) })
	}
	for _, name := range standingRollups {
		c.running.Go(func() { c.forward(ctx, name, func(i int) *node { return c.fleet.nodes[i%len(c.fleet.nodes)] }) })
	}
}

// forward reads a rollup repeatedly, each time from the process that at returns: watermarks must not decrease.
func (c *crowd) forward(ctx context.Context, name string, at func(int) *node) {
	last, by := changelog.Watermark{}, -1
	for i := 0; ctx.Err() == nil; i++ {
		n := at(i)
		a, err := n.groups(name)
		if err != nil {
			c.refuse(n, "read "+name, err)
			continue
		}
		if !a.Watermark.Contains(last) {
			c.t.Errorf("rollup %s: process %d answered with %v, and then process %d with generation %d at %v", name, by, last,
				n.index, a.Generation, a.Watermark)
		}
		last, by = a.Watermark, n.index
		c.read.Add(1)
		rest(ctx)
	}
}

// step sends one request.
func (m *member) step() {
	m.still.RLock()
	defer m.still.RUnlock()
	switch n := m.random.IntN(10); {
	case n < 5:
		m.put()
	case n < 7:
		m.remove()
	default:
		m.check()
	}
}

// at returns the process to use: the client's own first.
func (m *member) at(attempt int) *node {
	return m.fleet.nodes[(m.n+attempt)%len(m.fleet.nodes)]
}

func (m *member) source() string { return fmt.Sprint("client-", m.n) }

// place returns the current contents of a key.
func (m *member) place(key int) httpapi.RecordInput {
	m.revision++
	w := words(uint64(m.n/2*keys + key))
	a := httpapi.Attributes{"name": {w[0] + " " + w[1]}, "phones": {fmt.Sprintf("415-555-%04d", m.n/2*keys+key)}}
	for _, attribute := range []string{"city", "region", "postcode"} {
		if n := m.random.IntN(4); n > 0 {
			a[attribute] = []string{fmt.Sprint(n)}
		}
	}
	for range m.random.IntN(3) {
		a["category"] = append(a["category"], []string{"bakery", "forge", "mill", "quarry", "school"}[m.random.IntN(5)])
	}
	return httpapi.RecordInput{
		Source: m.source(), Key: fmt.Sprint(key), Attributes: a,
		ObservedAt: observed.Add(time.Duration(m.revision) * time.Second).Format(time.RFC3339),
	}
}

// put puts some of the client's places until each is acknowledged.
func (m *member) put() {
	var batch []httpapi.RecordInput
	for _, key := range m.random.Perm(keys)[:1+m.random.IntN(4)] {
		batch = append(batch, m.place(key))
	}
	for attempt := 0; len(batch) > 0; attempt++ {
		n := m.at(attempt)
		answer, err := post(n.url(), batch)
		if err != nil {
			if !m.again(m.n, n, attempt, err) {
				return
			}
			continue
		}
		var left []httpapi.RecordInput
		for i, r := range answer.Results {
			if r.Error != nil {
				left, err = append(left, batch[i]), r.Error
				continue
			}
			if m.done(r.Watermark); len(r.Watermark) == 0 && r.Pending { // its time was over before it was known where it stands
				m.lost = true
			} else if len(r.Watermark) == 0 {
				m.t.Errorf("process %d says of no place that it contains %s of client %d, which is %s", n.index, r.Key,
					m.n, r.Outcome)
			}
			m.has[r.Key] = batch[i].Attributes
		}
		if batch = left; err != nil && !m.again(m.n, n, attempt, err) {
			return
		}
	}
	m.acks.Add(1)
}

// remove deletes one of the client's places.
func (m *member) remove() {
	ref := entity.Ref{Source: m.source(), Key: fmt.Sprint(m.random.IntN(keys))}
	if m.has[ref.Key] == nil {
		return
	}
	for attempt := 0; ; attempt++ {
		n := m.at(attempt)
		answer, err := n.remove(ref)
		p, answered := errors.AsType[*httpapi.Problem](err)
		switch {
		case err == nil:
			m.done(answer.Watermark)
		case answered && p.Code == httpapi.CodeNotFound && attempt > 0: // an earlier attempt deleted it
			m.lost = true
		default:
			if !m.again(m.n, n, attempt, err) {
				return
			}
			continue
		}
		delete(m.has, ref.Key)
		m.acks.Add(1)
		return
	}
}

// done records the acknowledged watermark.
func (m *member) done(at changelog.Watermark) {
	m.mark = m.mark.Union(at)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marked = m.marked.Union(at)
}

// check checks the number of the client's records at a process, at a watermark that covers all its writes.
func (m *member) check() {
	n := m.at(m.random.IntN(len(m.fleet.nodes)))
	query := url.Values{}
	if mark := m.mark.String(); m.lost {
		query.Set("latest", "true")
	} else if mark != "" { // otherwise it has written nothing yet
		query.Set("min_watermark", mark)
	}
	g, err := n.source(m.source(), query)
	p, answered := errors.AsType[*httpapi.Problem](err)
	switch {
	case answered && p.Code == httpapi.CodeNotFound:
		if len(m.has) > 0 {
			m.t.Errorf("process %d counts no record of client %d at %v, which has %d", n.index, m.n, query, len(m.has))
		}
	case err != nil:
		m.refuse(n, "check", err)
		return
	case string(g.Total["count"]) != fmt.Sprint(len(m.has)):
		m.t.Errorf("process %d counts %s records of client %d at %v, asked for %v; it has %d", n.index, g.Total["count"], m.n,
			g.Watermark, query, len(m.has))
	case !m.lost && !g.Watermark.Contains(m.mark):
		m.t.Errorf("process %d answers client %d at %v, asked for %v", n.index, m.n, g.Watermark, query)
	case m.lost:
		m.mark, m.lost = m.mark.Union(g.Watermark), false
	}
	m.read.Add(1)
}

// held checks, while the clients pause, that their records are stored and that the rollups count them.
func (c *crowd) held() {
	c.t.Helper()
	c.still.Lock()
	defer c.still.Unlock()
	c.fleet.drained()
	records, err := allRecords(c.fleet.nodes[0].url())
	if err != nil {
		c.t.Fatal(err)
	}
	stored, want := map[string]httpapi.Attributes{}, map[string]httpapi.Attributes{}
	for ref, r := range records {
		stored[ref.String()] = r.Attributes
	}
	for _, m := range c.members {
		for key, a := range m.has {
			want[m.source()+":"+key] = a
		}
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		c.t.Errorf("records (-acknowledged +stored):\n%.4000s", diff)
	}
	for _, n := range c.fleet.nodes {
		n.compare()
	}
}
