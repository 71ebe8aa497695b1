// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
)

// traffic is what several clients send to the processes of a fleet, and the results. The records are those of the demo,
// except that each sixth is a passing one that is similar to no other. All clients put all keys, as clients with common
// sources do, so many race for the same new keys. Only one client changes and deletes a key.
type traffic struct {
	t     *testing.T
	fleet *fleet
	story *demo.Generator
	start time.Time
	also  func(node int, refs []entity.Ref) // called by the client after an answered batch

	issued  atomic.Int64 // keys that were put or are about to be
	batches atomic.Int64 // acknowledged
	refused atomic.Int64 // failed requests
	clients []*sender
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// sender is a client that sends one request after another. Its notes are read after it has ended.
type sender struct {
	*traffic
	n      int
	random *rand.Rand
	ops    []op
	faults []refusal
	// revisions are the last revisions sent for its own keys; negative for deleted keys.
	revisions map[int64]int
}

// op is an operation on one key.
type op struct {
	kind      opKind
	key       int64
	node      int
	call, ret time.Duration // since the start
	lost      bool          // unknown whether and when it was applied
	puid      entity.PUID   // 0 for a missing key
	result    httpapi.PutResult
	revision  int
}

type opKind uint8

const (
	opPut    opKind = iota
	opRead          // by the key
	opErased        // a read that found that the key was deleted, or a deletion
)

// refusal is a failed request, or a failed record of one.
type refusal struct {
	node      int
	call, ret time.Duration
	code      string // of the answer; "connection" without one
	text      string
}

const (
	clientsEach = 2  // clients of each process
	hotKeys     = 24 // how many of the newest keys are put again and again
	batchSize   = 16
)

// newTraffic prepares clients for all processes.
func newTraffic(f *fleet, seed uint64) *traffic {
	tr := &traffic{t: f.t, fleet: f, story: demo.New(seed, 600), start: time.Now()}
	for n := range clientsEach * len(f.nodes) {
		tr.clients = append(tr.clients,
			&sender{traffic: tr, n: n, random: rand.New(rand.NewPCG(seed, uint64(n))), revisions: map[int64]int{}})
	}
	return tr
}

// begin starts the clients; end stops them.
func (tr *traffic) begin() {
	ctx, cancel := context.WithCancel(tr.t.Context())
	tr.cancel = cancel
	for _, c := range tr.clients {
		tr.running.Go(func() {
			for ctx.Err() == nil {
				c.step(ctx)
				c.think(ctx)
			}
		})
	}
	tr.t.Cleanup(tr.end)
}

// end lets each client finish its current request.
func (tr *traffic) end() {
	tr.cancel()
	tr.running.Wait()
}

func (tr *traffic) now() time.Duration { return time.Since(tr.start) }

// advance waits until so many more batches are acknowledged, twice as many in long runs.
func (tr *traffic) advance(n int) {
	tr.t.Helper()
	goal := tr.batches.Load() + int64(scaled(n, 2*n))
	eventually(tr.t, 2*time.Minute, "the load goes on", func() (bool, string) {
		done := tr.batches.Load()
		return done >= goal, fmt.Sprintf("%d batches of %d", done, goal)
	})
}

// suffer waits until so many more requests have failed or succeeded: while a server is down, all clients may be waiting
// for it.
func (tr *traffic) suffer(n int64) {
	tr.t.Helper()
	goal := tr.batches.Load() + tr.refused.Load() + n
	eventually(tr.t, 2*time.Minute, "the clients go on", func() (bool, string) {
		return tr.batches.Load()+tr.refused.Load() >= goal, "they do not"
	})
}

// passing reports whether the i-th record is not one of the demo.
func passing(i int64) bool { return i%6 == 5 }

// ref returns the key of the i-th record.
func (tr *traffic) ref(i int64) entity.Ref {
	if passing(i) {
		return entity.Ref{Source: "passing", Key: fmt.Sprint(i)}
	}
	r := tr.story.Record(i)
	return entity.Ref{Source: r.Source, Key: r.Key}
}

// observed is the observation time of the first revisions; later revisions are some minutes later.
var observed = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// record returns the i-th record in a revision.
func (tr *traffic) record(i int64, revision int) httpapi.RecordInput {
	r := httpapi.RecordInput{ObservedAt: observed.Add(time.Duration(revision) * time.Minute).Format(time.RFC3339)}
	if passing(i) {
		word := words(uint64(i))
		r.Attributes = httpapi.Attributes{"name": {word[0] + " " + word[1]},
			"address": {fmt.Sprintf("%d %s Road", 1+revision, word[2])}}
	} else {
		told := tr.story.Record(i)
		if revision > 0 {
			told = tr.story.Update(i, revision)
		}
		r.Attributes = told.Attributes
	}
	ref := tr.ref(i)
	r.Source, r.Key = ref.Source, ref.Key
	return r
}

// words returns made-up words, different for each number.
func words(n uint64) (w [3]string) {
	r := rand.New(rand.NewPCG(n, 7))
	for i := range w {
		for range 4 {
			w[i] += string("BDFGKLMNPRSTVZ"[r.IntN(14)]) + string("aeiou"[r.IntN(5)])
		}
	}
	return w
}

// step sends one request.
func (c *sender) step(ctx context.Context) {
	switch n := c.random.IntN(100); {
	case n < 55:
		c.create(ctx)
	case n < 70:
		c.again(ctx)
	case n < 80:
		c.update(ctx)
	case n < 84:
		c.remove(ctx)
	default:
		c.read(ctx)
	}
}

// create puts some new keys, and some that other clients are putting at the same time.
func (c *sender) create(ctx context.Context) {
	keys := make(map[int64]int, batchSize)
	for range 1 + c.random.IntN(batchSize) {
		if c.random.IntN(2) == 0 {
			keys[c.issued.Add(1)-1] = 0
		} else {
			keys[max(0, c.issued.Load()-c.random.Int64N(hotKeys))] = 0
		}
	}
	c.put(ctx, keys)
}

// again puts existing keys in their first revision.
func (c *sender) again(ctx context.Context) {
	keys := make(map[int64]int, batchSize)
	for range 1 + c.random.IntN(batchSize) {
		keys[c.random.Int64N(c.issued.Load()+1)] = 0
	}
	c.put(ctx, keys)
}

// own returns a key that only this client changes and that must have been issued.
func (c *sender) own() (int64, bool) {
	clients := int64(len(c.clients))
	i := c.random.Int64N(c.issued.Load()+1)/clients*clients + int64(c.n)
	return i, i < c.issued.Load()
}

// update puts one of its own keys in a new revision.
func (c *sender) update(ctx context.Context) {
	if i, ok := c.own(); ok && c.revisions[i] >= 0 {
		c.revisions[i]++
		c.put(ctx, map[int64]int{i: c.revisions[i]})
	}
}

// remove deletes one of its own passing records, once.
func (c *sender) remove(ctx context.Context) {
	i, ok := c.own()
	if !ok || !passing(i) || c.revisions[i] < 0 {
		return
	}
	c.revisions[i] = -1
	ref := c.ref(i)
	for attempt := 0; ; attempt++ {
		at := c.at(attempt)
		call := c.now()
		request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodDelete,
			at.url()+httpapi.RecordPath(ref.Source, ref.Key), nil)
		if err != nil {
			c.t.Error(err)
			return
		}
		var answer httpapi.Deleted
		response, err := client.Do(request)
		if err == nil {
			err = decode(response, &answer)
		}
		p, answered := errors.AsType[*httpapi.Problem](err)
		switch {
		case err == nil:
			c.ops = append(c.ops, op{kind: opErased, key: i, node: at.index, call: call, ret: c.now()})
			return
		case answered && (p.Code == httpapi.CodeNotFound || p.Code == httpapi.CodeErased):
			return // it was never put, or an earlier attempt deleted it
		}
		c.refuse(at, call, err)
		if !c.rest(ctx, attempt) {
			return
		}
	}
}

// read reads a key, possibly one that was never put.
func (c *sender) read(ctx context.Context) {
	i := c.random.Int64N(c.issued.Load() + hotKeys)
	ref := c.ref(i)
	at := c.at(0)
	call := c.now()
	var r httpapi.Record
	err := at.get(httpapi.RecordPath(ref.Source, ref.Key), &r)
	p, answered := errors.AsType[*httpapi.Problem](err)
	o := op{kind: opRead, key: i, node: at.index, call: call, ret: c.now(), puid: r.PUID}
	switch {
	case err == nil, answered && p.Code == httpapi.CodeNotFound:
	case answered && p.Code == httpapi.CodeErased:
		o.kind = opErased
	default:
		c.refuse(at, call, err)
		c.rest(ctx, 0)
		return
	}
	c.ops = append(c.ops, o)
}

// put puts records in the given revisions until each is acknowledged: first at the client's own process, then at the
// others in turn.
func (c *sender) put(ctx context.Context, keys map[int64]int) {
	for attempt := 0; len(keys) > 0; attempt++ {
		at := c.at(attempt)
		var batch []httpapi.RecordInput
		var order []int64
		for i, revision := range keys {
			batch, order = append(batch, c.record(i, revision)), append(order, i)
		}
		call := c.now()
		answer, err := post(at.url(), batch)
		ret := c.now()
		if err != nil {
			c.refuse(at, call, err)
			p, answered := errors.AsType[*httpapi.Problem](err)
			if answered && p.Outcome == httpapi.Unknown || !answered && !errors.Is(err, syscall.ECONNREFUSED) {
				c.lose(at, call, keys)
			}
		} else {
			c.answered(at, call, ret, order, keys, answer)
		}
		if len(keys) > 0 && !c.rest(ctx, attempt) {
			return
		}
	}
}

// answered records the acknowledged items, and leaves the rest in keys.
func (c *sender) answered(at *node, call, ret time.Duration, order []int64, keys map[int64]int, answer *httpapi.PutResponse) {
	var refs []entity.Ref
	lost := map[int64]int{}
	for n, r := range answer.Results {
		i := order[n]
		switch {
		case r.Error == nil:
			c.ops = append(c.ops, op{kind: opPut, key: i, node: at.index, call: call, ret: ret, puid: r.PUID, result: r,
				revision: keys[i]})
			delete(keys, i)
			refs = append(refs, c.ref(i))
		case r.Error.Outcome == httpapi.Unknown:
			lost[i] = keys[i]
			fallthrough
		default:
			c.refuse(at, call, r.Error)
		}
	}
	c.lose(at, call, lost)
	if len(refs) > 0 {
		c.batches.Add(1)
		if c.also != nil {
			c.also(at.index, refs)
		}
	}
}

// lose records puts that may have been applied, or may be later.
func (c *sender) lose(at *node, call time.Duration, keys map[int64]int) {
	for i, revision := range keys {
		c.ops = append(c.ops, op{kind: opPut, key: i, node: at.index, call: call, lost: true, revision: revision})
	}
}

// at returns the process to use: the client's own first.
func (c *sender) at(attempt int) *node {
	nodes := c.fleet.nodes
	return nodes[(c.n+attempt)%len(nodes)]
}

// think pauses before the next request, so that most of the load is not sent while the test waits for something else:
// the start of a generation, or of a server.
func (c *sender) think(ctx context.Context) {
	timer := time.NewTimer(time.Duration(c.random.IntN(scaled(60, 1))) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// rest pauses before the next attempt, and reports whether there should be one.
func (c *sender) rest(ctx context.Context, attempt int) bool {
	timer := time.NewTimer(time.Duration(20+c.random.IntN(80)) * time.Millisecond)
	defer timer.Stop()
	<-timer.C
	return ctx.Err() == nil || attempt < 100 // work that has begun is finished
}

func (c *sender) refuse(at *node, call time.Duration, err error) {
	c.faults = append(c.faults, refusal{node: at.index, call: call, ret: c.now(), code: codeOf(err), text: err.Error()})
	c.refused.Add(1)
}
