// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/internal/pgtest"
)

// A copy of an installation with new addresses and a new id is refused the original's document database, and gets the
// copy of that by --mongodb OLD=NEW. The original continues with its own.
func TestP08_ACopyGetsItsDatabaseOfDocuments(t *testing.T) {
	t.Parallel()
	old, fresh, dir := mongotest.URI(t), mongotest.URI(t), t.TempDir()
	in := func(name, uri string) map[string]string {
		env := map[string]string{"LOCUS_DATA": filepath.Join(dir, name, "data"), "LOCUS_MONGODB": uri}
		if !mongotest.On(t).Durable {
			env["LOCUS_UNSAFE_DURABILITY"] = "true"
		}
		return env
	}
	original := in("original", old)
	places := write(t, "places.csv", businesses)
	must(t, original, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", places)
	server := pgtest.Shared(t)
	moved := server.Database(t)
	must(t, original, "cell", "move", "g0-3", "--to", server.URL(moved), "--yes") // the map refers to a server
	must(t, original, "metric", "hit", "visits", "3")
	if err := os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "original"))); err != nil {
		t.Fatal(err)
	}
	readdress := []string{"cell", "restored", "--map", server.URL(moved) + "=" + server.URL(server.Copy(t, moved)),
		"--yes", "--data", in("copy", "")["LOCUS_DATA"]}
	restored := func(pair string) result {
		env := in("copy", old)
		delete(env, "LOCUS_DATA")
		return run(t.Context(), env, append(readdress, "--mongodb", pair)...)
	}
	if got := restored(fresh); got.code != 2 || !strings.Contains(got.err, "OLD=NEW") {
		t.Errorf("one URI: exit code %d\n%s", got.code, got.err)
	}
	if got := restored(old + "=" + fresh); got.code == 0 || !strings.Contains(got.err, "not a copy") {
		t.Errorf("an empty database: exit code %d\n%s", got.code, got.err)
	}
	copyDatabase(t, old, fresh)
	if got := restored(old + "=" + old); got.code == 0 || !strings.Contains(got.err, "the same database") {
		t.Errorf("the original's database: exit code %d\n%s", got.code, got.err)
	}
	for _, uri := range []string{old, fresh} {
		if got := run(t.Context(), in("copy", uri), "status"); got.code != 1 {
			t.Errorf("the copy with what does not belong to it: exit code %d\n%s", got.code, got.err)
		}
	}
	for range 2 { // it is idempotent
		if got := restored(old + "=" + fresh); got.code != 0 {
			t.Fatalf("exit code %d\n%s", got.code, got.err)
		}
	}
	must(t, in("copy", fresh), "metric", "hit", "visits")
	for name, of := range map[string][2]string{"copy": {fresh, "4"}, "original": {old, "3"}} {
		if got := must(t, in(name, of[0]), "metric", "top"); !strings.Contains(got.stdout, "visits\t"+of[1]) {
			t.Errorf("%s: want %s visits\n%s", name, of[1], got.stdout)
		}
	}
	if got := run(t.Context(), in("copy", old), "status"); got.code != 1 || !strings.Contains(got.err, "belongs to the installation") {
		t.Errorf("the copy with the original's database: exit code %d\n%s", got.code, got.err)
	}
}

// copyDatabase copies all documents of a database to another.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	open := func(uri string) *mongo.Database {
		client, err := mongo.Connect(options.Client().ApplyURI(uri))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := client.Disconnect(context.Background()); err != nil {
				t.Error(err)
			}
		})
		name, _, _ := strings.Cut(uri[strings.LastIndex(uri, "/")+1:], "?")
		return client.Database(name)
	}
	source, target := open(from), open(to)
	names, err := source.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var docs []bson.D
		cursor, err := source.Collection(name).Find(t.Context(), bson.D{})
		if err == nil {
			err = cursor.All(t.Context(), &docs)
		}
		if err == nil && len(docs) > 0 {
			_, err = target.Collection(name).InsertMany(t.Context(), docs)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
