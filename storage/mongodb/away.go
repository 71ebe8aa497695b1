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

// away are the documents of a sharded cluster that could not be read, since their shard is down. A mongos fails a
// question about many documents if one shard does not answer, and only after a while. So a question that writers ask
// has little time; if it fails its documents are asked for one by one, and those that are away are remembered: from
// then on no caller waits for them. While writers ask for them they are looked for in the background.
type away struct {
	mu     sync.Mutex
	docs   map[document]bool
	looked time.Time // when they were looked for the last time
	busy   bool      // they are being looked for
	closed bool
	ctx    context.Context //nolint:containedctx // of what looks for them; ends with the database
	cancel context.CancelFunc
	all    sync.WaitGroup
}

// document is one by its collection and _id.
type document struct{ collection, id string }

// errAway is why hits are refused.
var errAway = fmt.Errorf("%w: the shard of MongoDB that it is on does not answer", cell.ErrUnavailable)

func newAway() *away {
	a := &away{docs: map[document]bool{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// findApart is findIn for writers. On a sharded cluster documents may be away while others are there: then it
// returns their ids, and each is not called.
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
	if errors.Is(err, cell.ErrUnavailable) && !nobody(err) && ctx.Err() == nil {
		if lost = d.lost(ctx, c, ids); len(lost) > 0 {
			return lost, nil
		}
		docs = nil
		err = findIn(ctx, c, ids, fields, gather) // it takes its time
	}
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		each(doc)
	}
	return nil, nil
}

// guard runs what reads or writes one document that may be away, alike.
func (d *Database) guard(ctx context.Context, c *mongo.Collection, id string, do func(context.Context) error) error {
	if d.server.Topology != Sharded {
		return do(ctx)
	}
	if len(d.known(c, []string{id})) > 0 {
		return errAway
	}
	err := d.soon(ctx, do)
	if errors.Is(err, cell.ErrUnavailable) && !nobody(err) && ctx.Err() == nil {
		d.remember(c, []string{id})
	}
	return err
}

// soon runs something that has a tenth of the time of other operations.
func (d *Database) soon(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout/10)
	defer cancel()
	return do(ctx)
}

// lost asks for documents one by one, remembers those that are away, and returns them.
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

// atOnce is how many documents are looked for at the same time: fewer than there are connections.
const atOnce = 64

// look reports which documents can be read; that they are not there is one of the answers. If the first ones are
// all away, so are the others.
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
				return d.collection(doc.collection).FindOne(ctx, bson.D{{Key: "_id", Value: doc.id}}, options.FindOne().SetProjection(byID)).Err()
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

// known returns which documents are known to be away, and has them looked for if that was not done lately.
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

// lookAgain looks whether a document is there again, and then for all others that are away.
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

// close ends the search, for good.
func (a *away) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.all.Wait()
}
