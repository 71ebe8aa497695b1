// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// piece is the number of operations per command to the stand-in. It hangs on bulks of more than 100, and if one of
// several updates fails, it stops and does not report the results of the others.
func piece(name string) int {
	if name == "update" {
		return 1
	}
	return 50
}

// inPieces splits a command into smaller ones and merges their replies.
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

// succeeded reports whether a command was executed, at least in part.
func succeeded(reply bson.Raw) bool {
	ok, isNumber := reply.Lookup("ok").AsFloat64OK()
	return isNumber && ok == 1
}

// result is a server's reply to a write command.
type result struct {
	N        int64    `bson:"n"`
	Modified int64    `bson:"nModified"`
	Upserted []bson.D `bson:"upserted"`
	Errors   []bson.D `bson:"writeErrors"`
	Concern  bson.Raw `bson:"writeConcernError"`
}

// add merges a reply about the operations from index at.
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

// move adds at to the indexes in the documents.
func move(docs []bson.D, at int) {
	for _, doc := range docs {
		for i := range doc {
			if index, ok := doc[i].Value.(int32); ok && doc[i].Key == "index" {
				doc[i].Value = index + int32(at)
			}
		}
	}
}

// body returns the result as a reply.
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
