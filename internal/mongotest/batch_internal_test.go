// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// server inserts numbers, refuses existing ones, and "upserts" missing ones on update: the model that a split
// command is compared with.
type server struct {
	has    map[int32]bool
	most   int // maximum number of operations in a command
	fails  int // the command that fails as a whole, 0 for none
	called int
}

func (s *server) do(m message) (message, error) {
	c, err := commandOf(m)
	if err != nil {
		return message{}, err
	}
	if s.called++; s.called == s.fails {
		return m.answer(failed(1, "Error", "out of order"))
	}
	ops, _, err := c.operations()
	if err != nil {
		return message{}, err
	}
	s.most = max(s.most, len(ops))
	var r result
	for i, op := range ops {
		n, had := op.Lookup("n").Int32(), s.has[op.Lookup("n").Int32()]
		switch {
		case had && c.name == "insert":
			r.Errors = append(r.Errors, bson.D{{Key: "index", Value: int32(i)}, {Key: "code", Value: int32(11000)}})
			if c.ordered() {
				return m.answer(r.body(c.name))
			}
			continue
		case had:
			r.Modified++
		case c.name == "update":
			r.Upserted = append(r.Upserted, bson.D{{Key: "index", Value: int32(i)}, {Key: "_id", Value: n}})
		}
		s.has[n] = true
		r.N++
	}
	return m.answer(r.body(c.name))
}

// A split command returns the same reply as the whole one, whether its operations are in the body or in a separate
// section.
func TestInPieces_AnswersAsTheWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"insert", "update"} {
		for _, ordered := range []bool{true, false} {
			for _, inBody := range []bool{true, false} {
				for _, size := range []int32{1, 49, 50, 51, 100, 101, 500} {
					t.Run(fmt.Sprint(name, " ordered ", ordered, " in body ", inBody, " of ", size), func(t *testing.T) {
						t.Parallel()
						var docs []bson.Raw
						for i := range size {
							docs = append(docs, raw(t, "n", i%430))
						}
						m := message{id: 5, opcode: opMsg, body: raw(t, name, "x", "ordered", ordered, "$db", "db"),
							lists: []list{{listOf(name), docs}}}
						if inBody {
							m.body, m.lists = raw(t, name, "x", listOf(name), docs, "ordered", ordered, "$db", "db"), nil
						}
						c, err := commandOf(m)
						if err != nil {
							t.Fatal(err)
						}
						whole, pieces := &server{has: map[int32]bool{60: true}}, &server{has: map[int32]bool{60: true}}
						want, err := whole.do(m)
						if err != nil {
							t.Fatal(err)
						}
						got, err := inPieces(c, pieces.do)
						if err != nil {
							t.Fatal(err)
						}
						if diff := cmp.Diff(want.body.String(), got.body.String()); diff != "" || got.to != 5 {
							t.Errorf("to %d (-whole +pieces):\n%s", got.to, diff)
						}
						if pieces.most > piece(name) {
							t.Errorf("%d operations at once", pieces.most)
						}
					})
				}
			}
		}
	}
}

// A command that fails as a whole in the middle is not reported as executed.
func TestInPieces_TellsAFailure(t *testing.T) {
	t.Parallel()
	var docs []bson.Raw
	for i := range int32(200) {
		docs = append(docs, raw(t, "n", i))
	}
	s := &server{has: map[int32]bool{}, fails: 3}
	reply, err := inPieces(command{name: "insert",
		message: message{opcode: opMsg, body: raw(t, "insert", "x"), lists: []list{{"documents", docs}}}}, s.do)
	if err != nil || succeeded(reply.body) || s.called != 3 {
		t.Errorf("after %d commands: %v, %v", s.called, reply.body, err)
	}
}

func TestResult_KeepsAConcern(t *testing.T) {
	t.Parallel()
	var r result
	concern := raw(t, "code", int32(64))
	for _, reply := range []bson.Raw{raw(t, "n", int32(1), "writeConcernError", concern, "ok", 1.0), raw(t, "n", int32(2), "ok", 1.0)} {
		if err := r.add(reply, 0); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprint(bson.D{{Key: "n", Value: int32(3)}, {Key: "writeConcernError", Value: concern},
		{Key: "ok", Value: 1.0}})
	if got := fmt.Sprint(r.body("insert")); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
