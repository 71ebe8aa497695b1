// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// piece is how many operations of a command the stand-in is given at once. It hangs on bulks of more than
// 100; and of several updates one that fails ends all, whatever was asked for, and what the others did is
// not told.
func piece(name string) int {
	if name == "update" {
		return 1
	}
	return 50
}

// inPieces does a command by several smaller ones and makes one answer of theirs.
func inPieces(c command, do func(message) (message, error)) (message, error) {
	ops, rest, err := c.operations()
	if err != nil {
		return message{}, err
	}
	if len(ops) <= piece(c.name) {
		return do(c.message)
	}
	var sum result
	at := 0
	for some := range slices.Chunk(ops, piece(c.name)) {
		m := rest
		m.lists = append(slices.Clip(rest.lists), list{name: listOf(c.name), docs: some})
		reply, err := do(m)
		if err != nil || !succeeded(reply.body) {
			return reply, err
		}
		if err := sum.add(reply.body, at); err != nil {
			return message{}, err
		}
		if at += len(some); c.ordered() && len(sum.Errors) > 0 {
			break
		}
	}
	return c.answer(sum.body(c.name))
}

// succeeded tells whether a command was done, in part at least.
func succeeded(reply bson.Raw) bool {
	ok, isNumber := reply.Lookup("ok").AsFloat64OK()
	return isNumber && ok == 1
}

// result is what a server says of a writing command.
type result struct {
	N        int64    `bson:"n"`
	Modified int64    `bson:"nModified"`
	Upserted []bson.D `bson:"upserted"`
	Errors   []bson.D `bson:"writeErrors"`
	Concern  bson.Raw `bson:"writeConcernError"`
}

// add adds what a server says of the operations that begin at a place of the whole.
func (r *result) add(reply bson.Raw, at int) error {
	var one result
	if err := bson.Unmarshal(reply, &one); err != nil {
		return err
	}
	move(one.Upserted, at)
	move(one.Errors, at)
	r.N += one.N
	r.Modified += one.Modified
	r.Upserted = append(r.Upserted, one.Upserted...)
	r.Errors = append(r.Errors, one.Errors...)
	if one.Concern != nil {
		r.Concern = one.Concern
	}
	return nil
}

// move gives each document the index of its operation in the whole.
func move(docs []bson.D, at int) {
	for _, doc := range docs {
		for i := range doc {
			if index, ok := doc[i].Value.(int32); ok && doc[i].Key == "index" {
				doc[i].Value = index + int32(at)
			}
		}
	}
}

// body is the result as a server says it.
func (r *result) body(name string) bson.D {
	doc := bson.D{{Key: "n", Value: int32(r.N)}}
	if name == "update" {
		doc = append(doc, bson.E{Key: "nModified", Value: int32(r.Modified)})
	}
	if len(r.Upserted) > 0 {
		doc = append(doc, bson.E{Key: "upserted", Value: r.Upserted})
	}
	if len(r.Errors) > 0 {
		doc = append(doc, bson.E{Key: "writeErrors", Value: r.Errors})
	}
	if r.Concern != nil {
		doc = append(doc, bson.E{Key: "writeConcernError", Value: r.Concern})
	}
	return append(doc, bson.E{Key: "ok", Value: 1.0})
}
