// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	mongooptions "go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/storage/mongodb"
)

// mongos implements the commands that a router sends: one collection whose ranges have owners. It simulates the
// replies of a cluster, not its behaviour.
type mongos struct {
	ranges  []placed
	shards  []string
	counts  map[string]int
	old     bool // before MongoDB 8.1
	known   int  // collections that the balancer knows
	lose    bool // loses a document of each batch
	move    bool // the balancer moves a document after each batch
	enabled bool
	dropped bool
}

func newMongos() *mongos {
	return &mongos{known: 1, shards: []string{"b", "a", "c"}, counts: map[string]int{}, ranges: []placed{{shard: 1}}}
}

var errMongos = errors.New("mongos: no such command")

func (m *mongos) run(ctx context.Context, database string, command bson.D, answer any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	reply, err := m.answer(database, command)
	if err != nil {
		return err
	}
	text, err := bson.Marshal(reply)
	if err != nil {
		return err
	}
	return bson.Unmarshal(text, answer)
}

func (m *mongos) answer(database string, command bson.D) (bson.D, error) {
	ok := bson.D{{Key: "ok", Value: 1}}
	batch := func(documents bson.A) bson.D {
		return bson.D{{Key: "cursor", Value: bson.D{{Key: "firstBatch", Value: documents}}}}
	}
	switch what := database + " " + command[0].Key; what {
	case "admin listShards":
		var all bson.A
		for _, name := range m.shards {
			all = append(all, bson.D{{Key: "_id", Value: name}, {Key: "host", Value: name + "/h:1"}, {Key: "state", Value: 1}})
		}
		all = append(all, bson.D{{Key: "_id", Value: "0"}, {Key: "host", Value: "0/h:1"}, {Key: "draining", Value: true}})
		return bson.D{{Key: "shards", Value: all}}, nil
	case "admin enableSharding":
		m.enabled = command[0].Value == "scratch"
		return ok, nil
	case "admin shardCollection":
		if !m.enabled {
			return nil, errors.New("sharding not enabled for db")
		}
		return ok, nil
	case "admin configureCollectionBalancing":
		if m.old {
			return nil, errors.New("BSON field 'enableBalancing' is an unknown field")
		}
		return ok, nil
	case "config update":
		return bson.D{{Key: "n", Value: m.known}}, nil
	case "admin split":
		low := keyIn(command[1].Value)
		i := m.find(low)
		m.ranges = slices.Insert(m.ranges, i+1, placed{low, m.ranges[i].shard})
		return ok, nil
	case "admin moveChunk":
		bounds := command[1].Value.(bson.A)
		i := m.find(keyIn(bounds[0]))
		if high := keyIn(bounds[1]); i+1 < len(m.ranges) && m.ranges[i+1].low != high {
			return nil, fmt.Errorf("no range from %v to %v", bounds[0], bounds[1])
		}
		m.ranges[i].shard = slices.Index(m.shards, command[2].Value.(string))
		return ok, nil
	case "scratch insert":
		documents := command[1].Value.(bson.A)
		if m.lose {
			documents = documents[1:]
		}
		for _, d := range documents {
			m.counts[m.shards[m.ranges[m.find(keyIn(d))].shard]]++
		}
		if m.move {
			m.counts["a"]--
			m.counts["b"]++
		}
		return bson.D{{Key: "n", Value: len(documents)}}, nil
	case "scratch aggregate":
		var all bson.A
		for name, n := range m.counts {
			all = append(all, bson.D{{Key: "ns", Value: "x"}, {Key: "shard", Value: name}, {Key: "count", Value: n}})
		}
		return batch(all), nil
	case "scratch dropDatabase":
		m.dropped = true
		return ok, nil
	default:
		return nil, fmt.Errorf("%w: %s", errMongos, what)
	}
}

// keyIn returns the _id of a document, with MinKey and MaxKey as the first and the last key.
func keyIn(document any) key {
	var b [16]byte
	switch v := document.(bson.D)[0].Value.(type) {
	case bson.ObjectID:
		copy(b[:], v[:])
	case bson.Binary:
		copy(b[:], v.Data)
	case bson.MaxKey:
		return key{^uint64(0), ^uint64(0)}
	}
	return keyOf(b)
}

func (m *mongos) find(k key) int {
	i := 0
	for i+1 < len(m.ranges) && m.ranges[i+1].low.compare(k) <= 0 {
		i++
	}
	return i
}

// few returns the first documents of a stream.
func few(k kind, n int) iter.Seq[document] {
	return func(yield func(document) bool) {
		i := 0
		for d := range stream(k, 1) {
			if i++; i > n || !yield(d) {
				return
			}
		}
	}
}

// On a cluster that keeps its ranges, the measurement agrees with those ranges, minute by minute.
func TestRouter_FindsWhoTookTheWrites(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{kinds[0], kinds[3], kinds[5]} {
		m := newMongos()
		m.old = k.objectID
		r := router{"scratch", m.run}
		names, err := r.shards(t.Context())
		if err != nil || !slices.Equal(names, []string{"a", "b", "c"}) {
			t.Fatalf("shards %v, %v", names, err)
		}
		c := newCluster(3, 500, false)
		for range c.take(few(k, 10_000)) {
			continue
		}
		got, err := r.measureKind(t.Context(), k, names, c.placement(), few(k, 1250))
		if err != nil {
			t.Fatal(err)
		}
		want := newSpread(k, 3)
		for d := range few(k, 1250) {
			want.writes[d.minute][c.owner(d.key)]++
		}
		for minute := range want.writes {
			if !slices.Equal(got.writes[minute], want.writes[minute]) {
				t.Errorf("%s: minute %d: %v, want %v", k.name, minute, got.writes[minute], want.writes[minute])
			}
		}
		if slots := got.slots(0, minutes, short); len(slots) != 5 {
			t.Errorf("%s: 1250 documents are in %d minutes", k.name, len(slots))
		}
		if err := r.drop(t.Context()); err != nil || !m.dropped {
			t.Errorf("%s: the scratch database is left behind: %v", k.name, err)
		}
	}
}

func TestRouter_RefusesWhatItCannotTrust(t *testing.T) {
	t.Parallel()
	k := kinds[5]
	for name, c := range map[string]struct {
		spoil func(*mongos)
		want  string
	}{
		"balancer": {func(m *mongos) { m.old, m.known = true, 0 }, "switch the balancer off for scratch.variable"},
		"lost":     {func(m *mongos) { m.lose = true }, "299 of 300 were taken"},
		"moved":    {func(m *mongos) { m.move = true }, "something else moves or writes"},
		"stranger": {func(m *mongos) { m.counts["d"] = 1 }, `"d" is none of [a b c]`},
	} {
		m := newMongos()
		c.spoil(m)
		_, err := router{"scratch", m.run}.measureKind(t.Context(), k, []string{"a", "b", "c"}, []placed{{shard: 2}},
			few(k, 3000))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A run that is interrupted, fails or is refused leaves nothing behind.
func TestMeasure_DropsTheScratchDatabase(t *testing.T) {
	t.Parallel()
	cluster := mongodb.Server{Topology: mongodb.Sharded, Version: "8.0.4"}
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx    context.Context
		server mongodb.Server
		shards []string
		want   string
	}{
		"interrupted": {interrupted, cluster, []string{"a", "b"}, "context canceled"},
		"refused":     {t.Context(), mongodb.Server{Topology: mongodb.ReplicaSet}, nil, "must be the address of a mongos"},
		"one shard":   {t.Context(), cluster, []string{"a"}, "has 1 shard"},
	} {
		m := newMongos()
		m.shards = c.shards
		_, _, err := router{"scratch", m.run}.measure(c.ctx, c.server, "mongodb://h/", asDocumented)
		if err == nil || !strings.Contains(err.Error(), c.want) || !m.dropped {
			t.Errorf("%s: %v, want %s; dropped: %v", name, err, c.want, m.dropped)
		}
	}
}

func TestMeasure_WantsAMongos(t *testing.T) {
	t.Parallel()
	for _, s := range []mongodb.Server{
		{Topology: mongodb.Standalone, Version: "8.0.4"},
		{Topology: mongodb.ReplicaSet, Set: "rs0", Version: "8.0.4"},
		{Topology: mongodb.Sharded, StandIn: "FerretDB", Version: "1.24"},
	} {
		if err := sharded(s, "mongodb://h/"); err == nil || !strings.Contains(err.Error(), "-uri must be the address of a mongos") {
			t.Errorf("%v is taken: %v", s, err)
		}
	}
	if err := sharded(mongodb.Server{Topology: mongodb.Sharded, Version: "8.0.4"}, "mongodb://h/"); err != nil {
		t.Error(err)
	}
	if _, _, err := measure(t.Context(), "mongodb://u:secret@h/orders", asDocumented); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a database of somebody's own is taken: %v", err)
	}
}

// The server of the suites is refused unless it is a mongos, which go -C bench run ./spread -uri measures.
func TestMeasure_RefusesTheServer(t *testing.T) {
	t.Parallel()
	uri := os.Getenv("LOCUS_TEST_MONGODB_URI")
	if uri == "" {
		t.Skip("LOCUS_TEST_MONGODB_URI is not set: no server to refuse")
	}
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal("LOCUS_TEST_MONGODB_URI cannot be read")
	}
	u.Path = "/"
	client, err := mongo.Connect(mongooptions.Client().ApplyURI(u.String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	var hello struct {
		Msg string `bson:"msg"`
	}
	if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		t.Fatal(err)
	}
	if hello.Msg == "isdbgrid" {
		t.Skip("LOCUS_TEST_MONGODB_URI is a mongos, which would be measured")
	}
	if _, _, err := measure(t.Context(), u.String(), asDocumented); err == nil || !strings.Contains(err.Error(), "-uri must be the address of a mongos") {
		t.Errorf("it is taken: %v", err)
	}
}
