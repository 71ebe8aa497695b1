// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/intake"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/source"
	_ "github.com/locus-db/locus/source/nats"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// broker starts a server with a stream CRM and returns its URL.
func broker(t *testing.T) (url string, js jetstream.JetStream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the broker does not start")
	}
	c, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if js, err = jetstream.New(c); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CRM", Subjects: []string{"crm.>"}}); err != nil {
		t.Fatal(err)
	}
	return s.ClientURL() + "/CRM", js
}

func open(t *testing.T, dir string) *locus.DB {
	t.Helper()
	if err := blank.Fill(dir, 2); err != nil {
		t.Fatal(err)
	}
	db, err := locus.Open(t.Context(), "sqlite:"+dir, &locus.Options{Storage: storage.Options{Scratch: true}, Sources: &sources.Options{Compile: intake.Compile}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// until waits for a state of the source.
func until(t *testing.T, db *locus.DB, name string, ok func(*sources.Status) bool) *sources.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		s, err := db.Sources().Get(ctx, name)
		if err == nil && ok(s) {
			return s
		}
		if ctx.Err() != nil {
			t.Fatalf("the source does not come so far: %+v, %v", s, err)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func publish(t *testing.T, js jetstream.JetStream, subject, text string) {
	t.Helper()
	if _, err := js.Publish(t.Context(), subject, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestSources_ReadWhatComes(t *testing.T) {
	t.Parallel()
	url, js := broker(t)
	dir := t.TempDir()
	db := open(t, dir)
	const mapping = "kind: person\nkey: id\nset: {name: \"{first} {last}\", phones: tel}\n"
	for i := range 30 {
		publish(t, js, "crm.a", fmt.Sprintf(`{"id":"c%d","first":"Ann","last":"Dorr%d","tel":"+1 212 555 01%02d"}`, i, i, i))
	}
	publish(t, js, "crm.a", `{"id":"c3","first":"Blue","last":"Dorr"}`)
	publish(t, js, "crm.a", `no json`)
	if _, changed, err := db.Sources().Create(t.Context(), sources.Definition{Name: "crm", From: url, Mapping: mapping}); err != nil || !changed {
		t.Fatal(changed, err)
	}
	s := until(t, db, "crm", func(s *sources.Status) bool { return s.Messages == 32 })
	if s.Records != 30 || s.Dead != 1 || s.Position.Next[0] != 33 {
		t.Errorf("%+v", s)
	}
	r, err := db.Records().Get(t.Context(), entity.Ref{Source: "crm", Key: "c3"})
	if err != nil || r.Attributes["name"][0] != "Blue Dorr" {
		t.Error(r, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	publish(t, js, "crm.a", `{"id":"c4","first":"Eve","last":"Dorr"}`)
	db = open(t, dir)
	defer db.Close()
	until(t, db, "crm", func(s *sources.Status) bool { return s.Messages == 33 })
	letters, err := db.Sources().Dead(t.Context(), "crm")
	if err != nil || len(letters) != 1 || letters[0].At != (source.At{Offset: 32}) {
		t.Error(letters, err)
	}
	if _, _, err := db.Records().List(t.Context(), records.Query{}); err != nil {
		t.Error(err)
	}
}
