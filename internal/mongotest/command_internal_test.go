// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestCommand_IsReadFromAMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body                          bson.Raw
		command, database, collection string
		ordered                       bool
	}{
		"a bulk":         {raw(t, "insert", "x", "ordered", false, "$db", "db"), "insert", "db", "x", false},
		"an ordered one": {raw(t, "update", "x.y", "$db", "db"), "update", "db", "x.y", true},
		"a cursor":       {raw(t, "getMore", int64(5), "collection", "x", "$db", "db"), "getMore", "db", "x", true},
		"no collection":  {raw(t, "aggregate", 1, "$db", "db"), "aggregate", "db", "", true},
		"a greeting":     {raw(t, "isMaster", 1, "insert", "x"), "isMaster", "", "", true},
	} {
		c, err := commandOf(message{body: tc.body})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := [3]string{c.name, c.database, c.collection}, [3]string{tc.command, tc.database, tc.collection}; got != want || c.ordered() != tc.ordered {
			t.Errorf("%s: %q ordered %v, want %q", name, got, c.ordered(), want)
		}
	}
	if _, err := commandOf(message{body: raw(t)}); err == nil {
		t.Error("an empty document is taken for a command")
	}
}

// Nothing is negotiated that would blind the proxy.
func TestCommand_IsMadeHonest(t *testing.T) {
	t.Parallel()
	compression := bson.A{"zstd"}
	for name, tc := range map[string]struct {
		sent, want bson.Raw
	}{
		"a greeting": {raw(t, "hello", 1, "compression", compression, "$db", "admin"),
			raw(t, "hello", 1, "$db", "admin")},
		"an old greeting":  {raw(t, "isMaster", 1, "compression", compression), raw(t, "isMaster", 1)},
		"a plain greeting": {raw(t, "hello", 1), raw(t, "hello", 1)},
		"a document with it": {raw(t, "insert", "x", "compression", compression),
			raw(t, "insert", "x", "compression", compression)},
	} {
		c, err := commandOf(message{opcode: opMsg, flags: exhaustAllowed | moreToCome, body: tc.sent})
		if err == nil {
			err = c.honest()
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want.String(), c.body.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c.flags != moreToCome {
			t.Errorf("%s: flags %b, want that of more to come alone", name, c.flags)
		}
	}
}

// Operations are in a separate section or in the body, and other lists are kept.
func TestCommand_HasOperations(t *testing.T) {
	t.Parallel()
	a, b := raw(t, "_id", "a"), raw(t, "_id", "b")
	other := list{"other", []bson.Raw{a}}
	for name, m := range map[string]message{
		"beside": {body: raw(t, "insert", "x", "$db", "db"), lists: []list{{"documents", []bson.Raw{a, b}}, other}},
		"inside": {body: raw(t, "insert", "x", "documents", bson.A{a, b}, "$db", "db"), lists: []list{other}},
	} {
		c, err := commandOf(m)
		if err != nil {
			t.Fatal(err)
		}
		ops, rest, err := c.operations()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]bson.Raw{a, b}, ops); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		want := message{body: raw(t, "insert", "x", "$db", "db"), lists: []list{other}}
		if diff := cmp.Diff(want, rest, cmp.AllowUnexported(message{}, list{})); diff != "" {
			t.Errorf("%s, the rest (-want +got):\n%s", name, diff)
		}
	}
	c, err := commandOf(message{body: raw(t, "insert", "x", "documents", bson.A{1})})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.operations(); err == nil {
		t.Error("numbers are taken for documents")
	}
}
