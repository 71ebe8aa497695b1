// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestShards_Needed: a command needs the shard that is down if it names one of its documents, or none at all.
func TestShards_Needed(t *testing.T) {
	t.Parallel()
	s := shards{down: func(collection, id string) bool { return collection == "c" && id == "down" }}
	in := func(ids ...string) bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}} }
	one := func(id string) bson.D { return bson.D{{Key: "_id", Value: id}} }
	for _, tc := range []struct {
		command, collection, of string
		value                   any
		needed                  bool
	}{
		{"find", "c", "filter", one("up"), false},
		{"find", "c", "filter", one("down"), true},
		{"find", "d", "filter", one("down"), false},
		{"find", "c", "filter", in("up", "other"), false},
		{"find", "c", "filter", in("up", "down"), true},
		{"find", "c", "filter", bson.D{}, true},
		{"find", "c", "filter", bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: "a"}}}}, true},
		{"findAndModify", "c", "query", one("down"), true},
		{"findAndModify", "c", "query", one("up"), false},
		{"insert", "c", "documents", bson.A{one("up"), one("down")}, true},
		{"insert", "c", "documents", bson.A{one("up")}, false},
		{"update", "c", "updates", bson.A{bson.D{{Key: "q", Value: one("down")}}}, true},
		{"delete", "c", "deletes", bson.A{bson.D{{Key: "q", Value: one("up")}}}, false},
		{"count", "c", "query", bson.D{}, true},
		{"ping", "", "x", 1, false},
	} {
		body, err := bson.Marshal(bson.D{{Key: tc.command, Value: tc.collection}, {Key: tc.of, Value: tc.value}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := commandOf(message{opcode: opMsg, body: body})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.needed(c); got != tc.needed {
			t.Errorf("%s of %v: %v, want %v", tc.command, tc.value, got, tc.needed)
		}
	}
}
