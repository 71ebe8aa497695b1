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

// Fault is something that goes wrong with commands of one name on one collection.
type Fault struct {
	// Command is its name in the protocol: insert, update, delete, findAndModify, find, getMore. A bulk is
	// as many of the first three as it takes.
	Command string
	// Collection that it is for.
	Collection string
	// Kind of what goes wrong.
	Kind Kind
	// Skip is how many such commands are left alone first. Defaults to 0.
	Skip int
	// Times is how many go wrong after that; -1 is all, be it none. Defaults to 1.
	Times int
}

// Kind is a way to go wrong.
type Kind int

// Kinds.
const (
	// DuplicateKey answers 11000 in place of the first operation, and of each one if the command is
	// unordered. Nothing is done.
	DuplicateKey Kind = iota + 1
	// LostReply does the command and closes the connection instead of answering.
	LostReply
	// LostCommand closes the connection. Nothing is done.
	LostCommand
	// WriteConcern does the command and adds to the answer that the majority did not confirm it in time.
	WriteConcern
	// NotPrimary answers as a server that writes are not for. Nothing is done.
	NotPrimary
)

var errFault = errors.New("mongotest: the connection is lost, as was asked for")

// Fault lets something go wrong from now on. Of several for one command, one a time does, the oldest first.
func (p *Proxy) Fault(f Fault) {
	f.Times = cmp.Or(f.Times, 1)
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.planned = append(p.faults.planned, &f)
}

// Hold keeps the next such command from the server: arrived is closed when it has come, and release lets it
// go on, or lets it pass if it has not come. Its client may have given up by then, and it is done all the
// same, as a network may have it. It is released with the test at the latest.
func (p *Proxy) Hold(command, collection string) (arrived <-chan struct{}, release func()) {
	h := &hold{command: command, collection: collection, arrived: make(chan struct{}), released: make(chan struct{})}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.holds = append(p.faults.holds, h)
	return h.arrived, h.release
}

// Seen is how many such commands have come so far, those too that went wrong.
func (p *Proxy) Seen(command, collection string) int {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return p.faults.seen[[2]string{command, collection}]
}

// faults are what is to go wrong.
type faults struct {
	mu      sync.Mutex
	planned []*Fault
	holds   []*hold
	seen    map[[2]string]int
}

// hold is a command that is waited for, or waits.
type hold struct {
	command, collection string
	taken               bool
	arrived, released   chan struct{}
	once                sync.Once
}

func (h *hold) release() { h.once.Do(func() { close(h.released) }) }

// meet finds what is to become of a command, after it has waited if it is to be held.
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

// release lets all go on that are held.
func (f *faults) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.holds {
		h.release()
	}
}

// left are sentences about what should have happened and did not.
func (f *faults) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var wrong []string
	for _, p := range f.planned {
		if p.Times > 0 {
			wrong = append(wrong, fmt.Sprintf("%d more of %s on %s should have gone wrong (%+v)", p.Times, p.Command, p.Collection, *p))
		}
	}
	for _, h := range f.holds {
		if !h.taken {
			wrong = append(wrong, fmt.Sprintf("no %s on %s came to be held", h.command, h.collection))
		}
	}
	return wrong
}

// instead is the answer to a command that is not done, nil if it is to be.
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

// after is the answer to a command that is done.
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

// duplicate is what a server says that has the keys already.
func duplicate(c command) (bson.D, error) {
	text := "E11000 duplicate key error collection: " + strings.Join([]string{c.database, c.collection}, ".") + " index: _id_"
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

// failed is what a server says of a command that it did not do.
func failed(code int32, name, text string) bson.D {
	return bson.D{
		{Key: "ok", Value: 0.0},
		{Key: "errmsg", Value: text},
		{Key: "code", Value: code},
		{Key: "codeName", Value: name},
	}
}
