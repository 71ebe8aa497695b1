// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/source"
	_ "github.com/locus-db/locus/source/nats"
	"github.com/locus-db/locus/sources"
)

// stream starts a server of NATS with a stream CRM and returns its URL.
func stream(t *testing.T) (url string, js jetstream.JetStream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(),
		NoLog: true, NoSigs: true})
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

func publish(t *testing.T, js jetstream.JetStream, subject, text string) {
	t.Helper()
	if _, err := js.Publish(t.Context(), subject, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// A driver of a real broker, and a second process that goes on where the first one ended.
func TestSources_ReadWhatComes(t *testing.T) {
	t.Parallel()
	url, js := stream(t)
	dir := t.TempDir()
	db := open(t, dir, false)
	const people = "kind: person\nkey: id\nset: {name: \"{first} {last}\", phones: tel}\n"
	for i := range 30 {
		publish(t, js, "crm.a", fmt.Sprintf(`{"id":"c%d","first":"Ann","last":"Dorr%d","tel":"+1 212 555 01%02d"}`, i, i, i))
	}
	publish(t, js, "crm.a", `{"id":"c3","first":"Blue","last":"Dorr"}`)
	publish(t, js, "crm.a", `no json`)
	create(t, db, sources.Definition{From: url, Mapping: people})
	s := until(t, db, func(s *sources.Status) bool { return s.Messages == 32 })
	if s.Records != 30 || s.Dead != 1 || s.Position.Next[0] != 33 {
		t.Errorf("%+v", s)
	}
	r, err := db.Records().Get(t.Context(), entity.Ref{Source: "crm", Key: "c3"})
	if err != nil || r.Attributes["name"][0] != "Blue Dorr" {
		t.Error(r, err)
	}
	closed.Store(db, true)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	publish(t, js, "crm.a", `{"id":"c4","first":"Eve","last":"Dorr"}`)
	db = open(t, dir, false)
	until(t, db, func(s *sources.Status) bool { return s.Messages == 33 })
	letters, err := db.Sources().Dead(t.Context(), "crm")
	if err != nil || len(letters) != 1 || letters[0].At != (source.At{Offset: 32}) {
		t.Error(letters, err)
	}
	if _, _, err := db.Records().List(t.Context(), records.Query{}); err != nil {
		t.Error(err)
	}
}
