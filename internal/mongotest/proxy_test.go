// SPDX-License-Identifier: Apache-2.0

package mongotest_test

import (
	"errors"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/internal/mongotest"
)

// faulty returns a collection behind a proxy, and the same without one. The driver does not retry.
func faulty(t *testing.T) (*mongotest.Proxy, *mongo.Collection, *mongo.Collection) {
	t.Helper()
	uri := mongotest.URI(t)
	direct := connect(t, uri).Collection("x")
	if _, err := direct.InsertOne(t.Context(), d("_id", "x", "n", int64(0))); err != nil {
		t.Fatal(err)
	}
	proxy := mongotest.NewProxy(t, uri)
	return proxy, connect(t, proxy.URI(), options.Client().SetRetryWrites(false)).Collection("x"), direct
}

// sum returns the current sum.
func sum(t *testing.T, c *mongo.Collection) int64 {
	t.Helper()
	var doc struct {
		N int64 `bson:"n"`
	}
	if err := c.FindOne(t.Context(), d("_id", "x")).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc.N
}

func code(err error, number int) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	return ok && e.HasErrorCode(number)
}

// A fault occurs once, for the named command; whether the command was executed depends on its kind.
func TestProxy_DoesWrong(t *testing.T) {
	t.Parallel()
	add := d("$inc", d("n", int64(1)))
	update := func(t *testing.T, c *mongo.Collection) error {
		_, err := c.UpdateByID(t.Context(), "x", add)
		return err
	}
	modify := func(t *testing.T, c *mongo.Collection) error {
		return c.FindOneAndUpdate(t.Context(), d("_id", "x"), add).Err()
	}
	concern := func(err error) bool {
		e, ok := errors.AsType[mongo.WriteException](err)
		return ok && e.WriteConcernError != nil && e.WriteConcernError.Code == 64 && len(e.WriteErrors) == 0 || code(err, 64)
	}
	for name, tc := range map[string]struct {
		kind  mongotest.Kind
		wrong func(error) bool
		done  int64
	}{
		"duplicate key": {mongotest.DuplicateKey, mongo.IsDuplicateKeyError, 0},
		"lost reply":    {mongotest.LostReply, mongo.IsNetworkError, 1},
		"lost command":  {mongotest.LostCommand, mongo.IsNetworkError, 0},
		"write concern": {mongotest.WriteConcern, concern, 1},
		"not primary":   {mongotest.NotPrimary, func(err error) bool { return code(err, 10107) }, 0},
	} {
		for command, do := range map[string]func(*testing.T, *mongo.Collection) error{"update": update, "findAndModify": modify} {
			t.Run(name+" of "+command, func(t *testing.T) {
				t.Parallel()
				proxy, c, direct := faulty(t)
				proxy.Fault(mongotest.Fault{Command: command, Collection: "y", Kind: tc.kind, Times: -1})
				proxy.Fault(mongotest.Fault{Command: "insert", Collection: "x", Kind: tc.kind, Times: -1})
				proxy.Fault(mongotest.Fault{Command: command, Collection: "x", Kind: tc.kind, Skip: 1, Times: 2})
				if err := do(t, c); err != nil {
					t.Fatalf("the first: %v", err)
				}
				for i := range int64(2) {
					if err := do(t, c); !tc.wrong(err) {
						t.Errorf("got %v", err)
					}
					if got, want := sum(t, direct), 1+(i+1)*tc.done; got != want {
						t.Errorf("added %d, want %d", got, want)
					}
				}
				if err := do(t, c); err != nil {
					t.Errorf("the fourth: %v", err)
				}
				if got := proxy.Seen(command, "x"); got != 4 {
					t.Errorf("seen %d, want 4", got)
				}
			})
		}
	}
}

// A bulk of duplicate keys has one error if it is ordered, else one per operation.
func TestProxy_DuplicatesBulks(t *testing.T) {
	t.Parallel()
	proxy, c, direct := faulty(t)
	proxy.Fault(mongotest.Fault{Command: "insert", Collection: "x", Kind: mongotest.DuplicateKey, Times: 2})
	docs := []any{d("_id", "a"), d("_id", "b"), d("_id", "c")}
	for ordered, want := range map[bool]int{true: 1, false: 3} {
		_, err := c.InsertMany(t.Context(), docs, options.InsertMany().SetOrdered(ordered))
		if e, ok := errors.AsType[mongo.BulkWriteException](err); !ok || len(e.WriteErrors) != want {
			t.Errorf("ordered %v: %v, want %d errors", ordered, err, want)
		}
	}
	count(t, direct, d(), 1)
}

// A held command does not reach the server until it is released, and blocks no other command.
func TestProxy_Holds(t *testing.T) {
	t.Parallel()
	proxy, c, direct := faulty(t)
	arrived, release := proxy.Hold("update", "x")
	var all sync.WaitGroup
	all.Go(func() {
		r, err := c.UpdateOne(t.Context(), d("_id", "x", "n", int64(0)), d("$set", d("n", int64(100))))
		if err != nil || r.MatchedCount != 0 {
			t.Errorf("the one that was held: %+v, %v, want no match", r, err)
		}
	})
	<-arrived
	if got := sum(t, direct); got != 0 {
		t.Errorf("it was done: %d", got)
	}
	if _, err := c.UpdateByID(t.Context(), "x", d("$inc", d("n", int64(1)))); err != nil {
		t.Errorf("another one: %v", err)
	}
	release()
	release() // releasing twice is harmless
	all.Wait()
	if got := sum(t, direct); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
}

// The proxy forwards everything else; the driver sees the original reply.
func TestProxy_HandsOn(t *testing.T) {
	t.Parallel()
	proxy, c, _ := faulty(t)
	hello, err := c.Database().RunCommand(t.Context(), d("hello", 1, "compression", bson.A{"zlib"})).Raw()
	if err != nil {
		t.Fatal(err)
	}
	if offered := hello.Lookup("compression"); !offered.IsZero() {
		t.Errorf("compression %v is agreed on", offered)
	}
	compressed := connect(t, proxy.URI(), options.Client().SetCompressors([]string{"zlib"})).Collection("x")
	if got := sum(t, compressed); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}
