// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// shards makes a proxy act as a mongos, one of whose shards may be down.
type shards struct {
	mu     sync.Mutex
	mongos bool
	down   func(collection, id string) bool // nil if all are up
	again  chan struct{}                    // closed when they are
	silent int                              // number of commands without a reply until then
	kept   map[string]int
	asked  int // queries for several documents
}

// Mongos makes the proxy identify itself as a mongos. It must be called before a client connects.
func (p *Proxy) Mongos() {
	p.shards.mu.Lock()
	defer p.shards.mu.Unlock()
	p.shards.mongos = true
}

// Down takes down the shard of the documents for which on returns true, given their collection and _id, a string. A
// command that names such a document is not executed; neither is one that names no _id, because it needs every shard.
// The first few commands, silent of them, get no reply, because a mongos looks for the shard for longer than clients
// wait. Later ones get the error that the shard cannot be reached. up, or the end of the test, brings the shard up
// again.
func (p *Proxy) Down(on func(collection, id string) bool, silent int) (up func()) {
	p.shards.mu.Lock()
	defer p.shards.mu.Unlock()
	p.shards.down, p.shards.again, p.shards.kept, p.shards.asked, p.shards.silent = on, make(chan struct{}), map[string]int{}, 0, silent
	return p.shards.up
}

// Kept returns how many commands of a name have needed the shard since it went down.
func (p *Proxy) Kept(command string) int {
	p.shards.mu.Lock()
	defer p.shards.mu.Unlock()
	return p.shards.kept[command]
}

// Asked returns how many queries for several documents have needed the shard since it went down.
func (p *Proxy) Asked() int {
	p.shards.mu.Lock()
	defer p.shards.mu.Unlock()
	return p.shards.asked
}

func (s *shards) up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		s.down = nil
		close(s.again)
	}
}

// meet returns the reply to a command that needs a shard which is down, or nil for any other command. An error ends
// the connection: the client of a command without a reply is gone.
func (s *shards) meet(c command) (*message, error) {
	s.mu.Lock()
	again, needed := s.again, s.down != nil && s.needed(c)
	silent := needed && s.silent > 0
	if needed {
		s.kept[c.name]++
	}
	if _, one := c.body.Lookup("filter", "_id").StringValueOK(); needed && c.name == "find" && !one {
		s.asked++
	}
	if silent {
		s.silent--
	}
	s.mu.Unlock()
	switch {
	case silent:
		<-again
		return &message{}, errFault
	case !needed:
		return nil, nil
	}
	reply, err := c.answer(failed(133, "FailedToSatisfyReadPreference",
		"could not find a host of the shard that is primary"))
	return &reply, err
}

// needed reports whether a command needs the shard that is down.
func (s *shards) needed(c command) bool {
	on := func(id string) bool { return s.down(c.collection, id) }
	switch c.name {
	case "find":
		return anyID(c.body.Lookup("filter"), on)
	case "findAndModify":
		return anyID(c.body.Lookup("query"), on)
	case "count", "createIndexes":
		return true
	}
	if listOf(c.name) == "" {
		return false
	}
	ops, _, err := c.operations()
	return err == nil && slices.ContainsFunc(ops, func(op bson.Raw) bool {
		if c.name == "insert" {
			return anyID(rawValue(op), on)
		}
		return anyID(op.Lookup("q"), on)
	})
}

func rawValue(doc bson.Raw) bson.RawValue {
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
}

// anyID reports whether is returns true for an _id that a filter or a document names, or whether it names none.
func anyID(filter bson.RawValue, is func(string) bool) bool {
	doc, ok := filter.DocumentOK()
	if !ok {
		return true
	}
	id := doc.Lookup("_id")
	if text, ok := id.StringValueOK(); ok {
		return is(text)
	}
	of, ok := id.DocumentOK()
	if !ok {
		return true
	}
	array, ok := of.Lookup("$in").ArrayOK()
	if !ok {
		return true
	}
	values, err := array.Values()
	return err != nil || slices.ContainsFunc(values, func(v bson.RawValue) bool {
		text, ok := v.StringValueOK()
		return !ok || is(text)
	})
}

// greet turns a handshake reply into a mongos's, if the proxy acts as one.
func (s *shards) greet(c command, reply message) (message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mongos || !c.greets() {
		return reply, nil
	}
	var body bson.D
	err := bson.Unmarshal(reply.body, &body)
	if err == nil {
		reply.body, err = bson.Marshal(append(body, bson.E{Key: "msg", Value: "isdbgrid"}))
	}
	return reply, err
}
