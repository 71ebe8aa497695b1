// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Fault is a fault to inject into commands of one name on one collection.
type Fault struct {
	// Command is the name in the protocol: insert, update, delete, findAndModify, find, getMore. A bulk consists of
	// as many of the first three as needed.
	Command string
	// Collection that the command is for.
	Collection string
	// Kind of fault.
	Kind Kind
	// Skip is the number of such commands that pass first. Defaults to 0.
	Skip int
	// Times is the number of commands that fail after that; -1 means all, even if there is none. Defaults to 1.
	Times int
}

// Kind is a kind of fault.
type Kind int

// Kinds.
const (
	// DuplicateKey replies with error 11000 for the first operation, or for each one if the command is unordered.
	// Nothing is executed.
	DuplicateKey Kind = iota + 1
	// LostReply executes the command and closes the connection instead of replying.
	LostReply
	// LostCommand closes the connection. Nothing is executed.
	LostCommand
	// WriteConcern executes the command and adds to the reply that the majority did not confirm it in time.
	WriteConcern
	// NotPrimary replies like a server that is not the primary. Nothing is executed.
	NotPrimary
)

var errFault = errors.New("mongotest: the connection is lost, as was asked for")

// Fault adds a fault. A command triggers at most one, the oldest that matches.
func (p *Proxy) Fault(f Fault) {
	f.Times = cmp.Or(f.Times, 1)
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.planned = append(p.faults.planned, &f)
}

// Hold delays the next such command before it reaches the server: arrived is closed when it arrives. release lets
// it continue, or cancels the hold if it has not arrived. It is executed even if its client has given up by then,
// as can happen on a network. The end of the test releases it.
func (p *Proxy) Hold(command, collection string) (arrived <-chan struct{}, release func()) {
	h := &hold{command: command, collection: collection, arrived: make(chan struct{}), released: make(chan struct{})}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.holds = append(p.faults.holds, h)
	return h.arrived, h.release
}

// Seen returns how many such commands have arrived so far, including those that failed.
func (p *Proxy) Seen(command, collection string) int {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return p.faults.seen[[2]string{command, collection}]
}

// faults holds the pending faults.
type faults struct {
	mu      sync.Mutex
	planned []*Fault
	holds   []*hold
	seen    map[[2]string]int
}

// hold is a command that is expected or delayed.
type hold struct {
	command, collection string
	taken               bool
	arrived, released   chan struct{}
	once                sync.Once
}

func (h *hold) release() { h.once.Do(func() { close(h.released) }) }

// meet returns the fault for a command, after delaying the command if it is held.
func (f *faults) meet(c command) (Fault, error) {
	fault, held := f.find(c)
	if held != nil {
		close(held.arrived)
		<-held.released
	}
	if fault.Kind == LostCommand {
		return fault, errFault
	}
	return fault, nil
}

func (f *faults) find(c command) (fault Fault, held *hold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[[2]string]int{}
	}
	f.seen[[2]string{c.name, c.collection}]++
	for _, h := range f.holds {
		if !h.taken && h.command == c.name && h.collection == c.collection {
			h.taken, held = true, h
			break
		}
	}
	for _, p := range f.planned {
		if p.Times == 0 || p.Command != c.name || p.Collection != c.collection {
			continue
		}
		if p.Skip > 0 {
			p.Skip--
			continue
		}
		if p.Times > 0 {
			p.Times--
		}
		return *p, held
	}
	return Fault{}, held
}

// release releases all holds.
func (f *faults) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.holds {
		h.release()
	}
}

// left returns a sentence for each fault that did not occur.
func (f *faults) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var wrong []string
	for _, p := range f.planned {
		if p.Times > 0 {
			wrong = append(wrong, fmt.Sprintf("%d more of %s on %s should have gone wrong (%+v)", p.Times, p.Command,
				p.Collection, *p))
		}
	}
	for _, h := range f.holds {
		if !h.taken {
			wrong = append(wrong, fmt.Sprintf("no %s on %s came to be held", h.command, h.collection))
		}
	}
	return wrong
}

// instead returns the reply to a command that is not executed, or nil if it is to be executed.
func (f Fault) instead(c command) (*message, error) {
	var body bson.D
	switch f.Kind {
	case DuplicateKey:
		var err error
		if body, err = duplicate(c); err != nil {
			return &message{}, err
		}
	case NotPrimary:
		body = failed(10107, "NotWritablePrimary", "not primary")
		if _, err := c.body.LookupErr("txnNumber"); err == nil {
			body = append(body, bson.E{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}})
		}
	default:
		return nil, nil
	}
	reply, err := c.answer(body)
	return &reply, err
}

// after returns the reply to a command that was executed.
func (f Fault) after(c command, reply message) (message, error) {
	switch f.Kind {
	case LostReply:
		return message{}, errFault
	case WriteConcern:
		var body bson.D
		if err := bson.Unmarshal(reply.body, &body); err != nil {
			return message{}, err
		}
		return c.answer(append(body, bson.E{Key: "writeConcernError", Value: bson.D{
			{Key: "code", Value: int32(64)},
			{Key: "codeName", Value: "WriteConcernTimeout"},
			{Key: "errmsg", Value: "waiting for replication timed out"},
			{Key: "errInfo", Value: bson.D{{Key: "wtimeout", Value: true}}},
		}}))
	}
	return reply, nil
}

// duplicate returns a duplicate-key reply.
func duplicate(c command) (bson.D, error) {
	text := "E11000 duplicate key error collection: " + strings.Join([]string{c.database, c.collection},
		".") + " index: _id_"
	if listOf(c.name) == "" {
		return failed(11000, "DuplicateKey", text), nil
	}
	ops, _, err := c.operations()
	if err != nil {
		return nil, err
	}
	if c.ordered() {
		ops = ops[:min(1, len(ops))]
	}
	var wrong bson.A
	for i := range ops {
		wrong = append(wrong, bson.D{
			{Key: "index", Value: int32(i)},
			{Key: "code", Value: int32(11000)},
			{Key: "errmsg", Value: text},
		})
	}
	return bson.D{{Key: "n", Value: int32(0)}, {Key: "writeErrors", Value: wrong}, {Key: "ok", Value: 1.0}}, nil
}

// failed returns the reply to a command that failed.
func failed(code int32, name, text string) bson.D {
	return bson.D{
		{Key: "ok", Value: 0.0},
		{Key: "errmsg", Value: text},
		{Key: "code", Value: code},
		{Key: "codeName", Value: name},
	}
}
