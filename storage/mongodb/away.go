// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
)

// away remembers the documents of a sharded cluster that could not be read because their shard is down. A mongos fails
// a query for many documents if one shard is unavailable, and only after a while. So queries of writers get a short
// timeout; if one fails, its documents are read one by one, and those that cannot be read are remembered. From then on
// no caller waits for them: they are retried in the background as long as writers request them.
type away struct {
	mu     sync.Mutex
	docs   map[document]bool
	looked time.Time // when they were last retried
	busy   bool      // a retry is running
	closed bool
	ctx    context.Context //nolint:containedctx // of what looks for them; ends with the database
	cancel context.CancelFunc
	all    sync.WaitGroup
}

// document identifies a document by collection and _id.
type document struct{ collection, id string }

// errAway is the reason for refusing hits.
var errAway = fmt.Errorf("%w: the shard of MongoDB that it is on is unavailable", cell.ErrUnavailable)

func newAway() *away {
	a := &away{docs: map[document]bool{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// findApart is findIn for writers. On a sharded cluster some documents may be unreadable while others can be read:
// then it returns the IDs of the former and does not call each.
func findApart[D any](ctx context.Context, d *Database, c *mongo.Collection, ids []string, fields bson.D, each func(D)) (lost []string, err error) {
	if d.server.Topology != Sharded {
		return nil, findIn(ctx, c, ids, fields, each)
	}
	if lost = d.known(c, ids); len(lost) > 0 {
		return lost, nil
	}
	var docs []D
	gather := func(doc D) { docs = append(docs, doc) }
	err = d.soon(ctx, func(ctx context.Context) error { return findIn(ctx, c, ids, fields, gather) })
	if errors.Is(err, cell.ErrUnavailable) && !noServer(err) && ctx.Err() == nil {
		if lost = d.lost(ctx, c, ids); len(lost) > 0 {
			return lost, nil
		}
		docs = nil
		err = findIn(ctx, c, ids, fields, gather) // with the full timeout
	}
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		each(doc)
	}
	return nil, nil
}

// guard runs do, which reads or writes one document, unless that document is known to be away. It marks the document as
// away if do fails because the shard is down.
func (d *Database) guard(ctx context.Context, c *mongo.Collection, id string, do func(context.Context) error) error {
	if d.server.Topology != Sharded {
		return do(ctx)
	}
	if len(d.known(c, []string{id})) > 0 {
		return errAway
	}
	err := d.soon(ctx, do)
	if errors.Is(err, cell.ErrUnavailable) && !noServer(err) && ctx.Err() == nil {
		d.remember(c, []string{id})
	}
	return err
}

// soon runs do with a tenth of the usual timeout.
func (d *Database) soon(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout/10)
	defer cancel()
	return do(ctx)
}

// lost reads documents one by one, remembers those that cannot be read, and returns them.
func (d *Database) lost(ctx context.Context, c *mongo.Collection, ids []string) []string {
	docs := make([]document, len(ids))
	for i, id := range ids {
		docs[i] = document{c.Name(), id}
	}
	var lost []string
	for i, there := range d.look(ctx, docs) {
		if !there {
			lost = append(lost, ids[i])
		}
	}
	d.remember(c, lost)
	return lost
}

// atOnce is how many documents are retried concurrently: fewer than the number of connections.
const atOnce = 64

// look reports which documents can be read; a missing document counts as readable. If the first atOnce all fail, it
// gives up on the others.
func (d *Database) look(ctx context.Context, docs []document) []bool {
	ctx = mongo.NewSessionContext(ctx, nil) // a session is for one goroutine
	there := make([]bool, len(docs))
	var mu sync.Mutex
	found, missed := 0, 0
	hopeless := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return found == 0 && missed >= atOnce
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, doc := range docs {
		if hopeless() || ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			err := d.soon(ctx, func(ctx context.Context) error {
				return d.Collection(doc.collection).FindOne(ctx, bson.D{{Key: "_id", Value: doc.id}}, options.FindOne().SetProjection(byID)).Err()
			})
			mu.Lock()
			defer mu.Unlock()
			if there[i] = err == nil || errors.Is(err, mongo.ErrNoDocuments); there[i] {
				found++
			} else {
				missed++
			}
			return nil
		})
	}
	_ = g.Wait()
	return there
}

func (d *Database) remember(c *mongo.Collection, ids []string) {
	a := d.away
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		a.docs[document{c.Name(), id}] = true
	}
	a.looked = time.Now()
}

// known returns which of the documents are known to be away, and starts a retry unless there was one recently.
func (d *Database) known(c *mongo.Collection, ids []string) (lost []string) {
	a := d.away
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.docs) == 0 {
		return nil
	}
	for _, id := range ids {
		if a.docs[document{c.Name(), id}] {
			lost = append(lost, id)
		}
	}
	if len(lost) > 0 && !a.busy && !a.closed && time.Since(a.looked) >= d.timeout/10 {
		a.busy = true
		a.all.Go(func() { d.lookAgain(document{c.Name(), lost[0]}) })
	}
	return lost
}

// lookAgain retries one document and, if it can be read, all others.
func (d *Database) lookAgain(first document) {
	a := d.away
	back := func(docs []document) (some bool) {
		there := d.look(a.ctx, docs)
		a.mu.Lock()
		defer a.mu.Unlock()
		for i, doc := range docs {
			if there[i] {
				delete(a.docs, doc)
				some = true
			}
		}
		return some
	}
	if back([]document{first}) {
		a.mu.Lock()
		others := make([]document, 0, len(a.docs))
		for doc := range a.docs {
			others = append(others, doc)
		}
		a.mu.Unlock()
		back(others)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looked, a.busy = time.Now(), false
}

// close stops the retries for good.
func (a *away) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.all.Wait()
}
