// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/internal/cli"
	"github.com/locus-db/locus/internal/mongotest"
)

// mirrorOf returns the variables for a mirror of a data directory, and its collection.
func mirrorOf(t *testing.T) (map[string]string, *mongo.Collection) {
	t.Helper()
	uri := mongotest.URI(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.Background()); err != nil {
			t.Error(err)
		}
	})
	at := strings.LastIndex(uri, "/")
	name, _, _ := strings.Cut(uri[at+1:], "?")
	env := map[string]string{"LOCUS_MIRROR_URI": uri, "LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	if !mongotest.On(t).Durable {
		env["LOCUS_UNSAFE_DURABILITY"] = "true"
	}
	return env, client.Database(name).Collection("entities")
}

func TestMirror_FillsVerifiesAndRepairs(t *testing.T) {
	t.Parallel()
	env, c := mirrorOf(t)
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", write(t, "places.csv", businesses))
	if got := must(t, env, "mirror", "mongodb", "--status"); !strings.Contains(got.stdout, "g0-0\tnot begun\t0") {
		t.Errorf("%s", got.stdout)
	}
	if got := must(t, env, "mirror", "mongodb", "--once"); !strings.Contains(got.err, "2 ids in 16 cells") {
		t.Errorf("%s", got.err)
	}
	var doc struct {
		ID         bson.Binary `bson:"_id"`
		State      string
		Attributes []struct{ Name, Value string }
		Members    []struct{ Source, Key string }
	}
	if err := c.FindOne(t.Context(), bson.D{{Key: "attributes.value", Value: "Golden Bakery"}}).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if doc.ID.Subtype != 4 || len(doc.ID.Data) != 16 || doc.State != "entity" || doc.Attributes[0].Name != "name" ||
		doc.Members[0].Key != "2" {
		t.Errorf("%+v", doc)
	}
	must(t, env, "mirror", "mongodb", "--verify")
	if _, err := c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: doc.ID}}, bson.D{{Key: "$set", Value: bson.D{{Key: "kind", Value: "cake"}}}}); err != nil {
		t.Fatal(err)
	}
	var found struct {
		Type              string
		Compared          int
		Different, Differ int
		First             []struct{ ID, What string }
	}
	got := run(t.Context(), env, "mirror", "mongodb", "--verify", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &found); err != nil || got.code != 1 || found.Differ != 1 || found.Different != 1 || found.First[0].What != "different" || found.Compared != 2 {
		t.Errorf("exit code %d, %v\n%s%s", got.code, err, got.stdout, got.err)
	}
	if got := must(t, env, "mirror", "mongodb", "--verify", "--repair"); !strings.Contains(got.err, "1 document written") {
		t.Errorf("%s", got.err)
	}
	must(t, env, "mirror", "mongodb", "--verify")
	must(t, env, "record", "erase", "crm:2", "--yes")
	if got := run(t.Context(), env, "mirror", "mongodb", "--verify", "--patience", "1ms"); got.code != 6 || !strings.Contains(got.err, "behind in g0-") {
		t.Errorf("late: exit code %d\n%s", got.code, got.err)
	}
	must(t, env, "mirror", "mongodb", "--once")
	must(t, env, "mirror", "mongodb", "--verify")
	raw, err := c.FindOne(t.Context(), bson.D{{Key: "_id", Value: doc.ID}}).Raw()
	if err != nil || strings.Contains(raw.String(), "Golden") || strings.Contains(raw.String(), "members") ||
		!strings.Contains(raw.String(), "deleted") {
		t.Errorf("%v, %v", raw, err)
	}
	other := map[string]string{"LOCUS_MIRROR_URI": env["LOCUS_MIRROR_URI"],
		"LOCUS_UNSAFE_DURABILITY": env["LOCUS_UNSAFE_DURABILITY"], "LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	must(t, other, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", write(t, "places.csv", businesses))
	if got := run(t.Context(), other, "mirror", "mongodb", "--once"); got.code != 5 || !strings.Contains(got.err, "another installation") {
		t.Errorf("foreign: exit code %d\n%s", got.code, got.err)
	}
	must(t, other, "mirror", "mongodb", "--once", "--collection", "others")
}

// Ctrl-C ends a following mirror, and the next one continues.
func TestMirror_FollowsAServerUntilItIsStopped(t *testing.T) {
	t.Parallel()
	env, _ := mirrorOf(t)
	delete(env, "LOCUS_DATA")
	maps.Copy(env, served(t))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	talk, done := watch("up to date"), make(chan int)
	go func() {
		done <- cli.Run(ctx, []string{"mirror", "mongodb"}, strings.NewReader(""), io.Discard, talk, env)
	}()
	<-talk.seen
	must(t, env, "mirror", "mongodb", "--verify")
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", write(t, "places.csv", businesses))
	if got := must(t, env, "mirror", "mongodb", "--verify", "--patience", "1m"); !strings.Contains(got.err, "2 ids") {
		t.Errorf("%s", got.err)
	}
	stop()
	if code := <-done; code != 0 || !strings.Contains(talk.String(), "repeat the command to continue") {
		t.Errorf("exit code %d\n%s", code, talk.String())
	}
}

func TestMirror_WrongFlags(t *testing.T) {
	t.Parallel()
	const uri = "mongodb://127.0.0.1:1/places"
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "--uri is missing"},
		{[]string{"--uri", "http://db1"}, "want mongodb://HOST/NAME"},
		{[]string{"--uri", "mongodb://me:secret@db1/places"}, "LOCUS_MONGODB_PASSWORD"},
		{[]string{"--uri", uri, "--once", "--verify"}, "exclude each other"},
		{[]string{"--uri", uri, "--status", "--verify"}, "exclude each other"},
		{[]string{"--uri", uri, "--repair"}, "--repair needs --verify"},
		{[]string{"--uri", uri, "--verify", "--patience", "0s"}, "--patience"},
		{[]string{"--uri", uri, "--collection", ""}, "is not a collection name"},
		{[]string{"--uri", uri, "--collection", "places."}, "is not a collection name"},
		{[]string{"--uri", uri, "--collection", "pl$ces.entities"}, "is not a collection name"},
		{[]string{"--uri", uri, "--collection", "places.system.users"}, "is not a collection name"},
	} {
		got := run(t.Context(), nil, append([]string{"mirror", "mongodb"}, c.args...)...)
		if got.code != 2 || !strings.Contains(got.err, c.says) || strings.Contains(got.err, "secret") {
			t.Errorf("%q: exit code %d\n%s", c.args, got.code, got.err)
		}
	}
}
