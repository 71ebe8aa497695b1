// SPDX-License-Identifier: Apache-2.0

package nats_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/source/nats"
	"github.com/locus-db/locus/source/sourcetest"
)

// broker starts a server that wants a token.
func broker(t *testing.T) (*server.Server, jetstream.JetStream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true, Authorization: "tea",
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the broker does not start")
	}
	c, err := natsgo.Connect(s.ClientURL(), natsgo.Token("tea"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, js
}

func open(t *testing.T, s *server.Server, path string) func(context.Context, source.Position) (source.Stream, error) {
	t.Helper()
	u, err := source.ParseURL("nats://" + s.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, at source.Position) (source.Stream, error) {
		return nats.Driver.Open(ctx, source.Spec{Name: "crm", URL: u, Secret: secret.New("tea")}, at)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	sourcetest.Run(t, func(t *testing.T) sourcetest.Harness {
		name := strings.NewReplacer("/", "_").Replace(t.Name())
		stream, err := js.CreateStream(t.Context(),
			jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Storage: jetstream.MemoryStorage})
		if err != nil {
			t.Fatal(err)
		}
		return sourcetest.Harness{
			Publish: func(ctx context.Context, key, value string) error {
				_, err := js.Publish(ctx, name+"."+key, []byte(value))
				return err
			},
			Open: open(t, s, "/"+name),
			Trim: func(ctx context.Context, before int64) error {
				return stream.Purge(ctx, jetstream.WithPurgeSequence(uint64(before)))
			},
		}
	})
}

// A key-value bucket is a stream of its keys; a deletion is an empty message.
func TestStream_ReadsBuckets(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	bucket, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "crm"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.PutString(ctx, "a.7", "{}"); err != nil {
		t.Fatal(err)
	}
	if err := bucket.Delete(ctx, "a.7"); err != nil {
		t.Fatal(err)
	}
	stream, err := open(t, s, "/KV_crm")(ctx, source.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	batch, err := stream.Fetch(ctx, 9)
	// A bucket with a history of one keeps the deletion alone.
	if err != nil || len(batch) != 1 || string(batch[0].Key) != "a.7" || len(batch[0].Value) != 0 {
		t.Errorf("%+v, %v", batch, err)
	}
}

func TestStream_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	if _, err := open(t, s, "/NONE")(t.Context(), source.Position{}); err == nil || !strings.Contains(err.Error(), "no stream NONE") {
		t.Errorf("no stream: %v", err)
	}
	// In memory, since the server removes files some time after a stream is deleted, and until then the name is refused.
	created, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CRM", Subjects: []string{"crm"}, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	first, err := open(t, s, "/CRM?subject=crm")(t.Context(), source.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := js.DeleteStream(t.Context(), created.CachedInfo().Config.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), created.CachedInfo().Config); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, s, "/CRM")(t.Context(), first.Position()); !errors.Is(err, source.ErrGap) {
		t.Errorf("a stream that was created again: %v", err)
	}
	if _, err := first.Ends(t.Context()); !errors.Is(err, source.ErrGap) {
		t.Errorf("a stream that was created again while it was read: %v", err)
	}
	for text, want := range map[string]string{"nats://h": "/STREAM", "nats://h/a.b": "/STREAM", "nats://h/A?x=1": "not known", "nats://ann:pw@h/A": "would be stored"} {
		if _, err := source.ParseURL(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A connection that is lost is named, and so is a server that does not listen.
func TestStream_LostConnection(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CRM", Subjects: []string{"crm"}}); err != nil {
		t.Fatal(err)
	}
	read := open(t, s, "/CRM")
	stream, err := read(t.Context(), source.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	s.Shutdown()
	s.WaitForShutdown()
	for tries := 0; ; tries++ { // the client notices it a little later
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := stream.Ends(ctx)
		cancel()
		if err != nil && strings.Contains(err.Error(), "does not answer") {
			break
		}
		if tries == 200 {
			t.Fatalf("the server is gone: %v", err)
		}
	}
	if _, err := read(t.Context(), source.Position{}); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("nothing listens: %v", err)
	}
}
