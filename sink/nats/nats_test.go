// SPDX-License-Identifier: Apache-2.0

package nats_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/nats"
	"github.com/locus-db/locus/sink/sinktest"
)

// broker starts a server that wants a token.
func broker(t *testing.T) (*server.Server, jetstream.JetStream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true, Authorization: "tea",
		MaxPayload: 4096,
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
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

func open(t *testing.T, s *server.Server, path string) (*nats.Sink, error) {
	t.Helper()
	u, err := url.Parse("nats://" + s.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := nats.Open(t.Context(), u, nats.Options{Name: "golden", Secret: secret.New("tea")})
	if err == nil {
		t.Cleanup(func() { _ = sink.Close() })
	}
	return sink, err
}

func must(t *testing.T, s *server.Server, path string) *nats.Sink {
	t.Helper()
	target, err := open(t, s, path)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// get returns the last event of an ID in a stream.
func get(ctx context.Context, js jetstream.JetStream, stream, subject string, id locality.ID) (e sink.Event, err error) {
	of, err := js.Stream(ctx, stream)
	if err != nil {
		return e, err
	}
	m, err := of.GetLastMsgForSubject(ctx, subject+"."+id.String())
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return e, nil
	} else if err != nil {
		return e, err
	}
	if err := json.Unmarshal(m.Data, &e); err != nil {
		return e, err
	}
	if list, ok := e.View["phones"].([]any); ok {
		texts := []string{}
		for _, one := range list {
			texts = append(texts, one.(string))
		}
		e.View["phones"] = texts
	}
	if want := fmt.Sprintf("golden.%s.%d", id, e.Rev); m.Header.Get("Nats-Msg-Id") != want {
		return e, fmt.Errorf("the message is called %q, want %q", m.Header.Get("Nats-Msg-Id"), want)
	}
	return e, nil
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	sinktest.Run(t, func(t *testing.T) sinktest.Target {
		name := strings.NewReplacer("/", "_").Replace(t.Name())
		return sinktest.Target{
			Sink: must(t, s, "/"+name+"?subject="+name+".golden"),
			Get: func(ctx context.Context, id locality.ID) (sink.Event, error) {
				return get(ctx, js, name, name+".golden", id)
			},
		}
	})
}

func event(n byte, token, count int64, view map[string]any) sink.Event {
	return sink.Event{ID: locality.ID{0: n, 15: 1}, Rev: sinktest.Rev(token, count), Op: sink.Upsert, Kind: "place",
		Records: []string{"a:1"}, View: view}
}

// An owner that was paused after it had read the subject, and one that comes back with a lower token, are refused.
func TestP17_PausedOwnersAreRefused(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	former, current := must(t, s, "/CRM"), must(t, s, "/CRM")
	for n, begin := range []func() error{
		func() error { return nil }, // the paused owner saw no message
		func() error {
			return former.Deliver(t.Context(), sink.Batch{Token: 5, Events: []sink.Event{event(1, 5, 1, nil)}})
		},
	} {
		e := event(byte(n), 5, 2, nil)
		if err := begin(); err != nil {
			t.Fatal(err)
		}
		last, _, err := former.Last(t.Context(), &e)
		if err != nil {
			t.Fatal(err)
		}
		newer := event(byte(n), 6, 1, nil)
		if err := current.Deliver(t.Context(), sink.Batch{Token: 6, Events: []sink.Event{newer}}); err != nil {
			t.Fatal(err)
		}
		if err := former.Publish(t.Context(), &e, last); err == nil {
			t.Error("a paused owner publishes over the event of the one that took its place")
		}
		if err := former.Deliver(t.Context(), sink.Batch{Token: 5, Events: []sink.Event{e}}); !errors.Is(err, sink.ErrFenced) {
			t.Errorf("a former owner gets %v", err)
		}
		if got, err := get(t.Context(), js, "CRM", "CRM", e.ID); err != nil || got.Rev != newer.Rev {
			t.Errorf("the stream has %+v, %v", got, err)
		}
	}
}

// A message larger than the server or the stream admits is a dead letter, and the others are delivered.
func TestDeliver_RejectsWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CRM", Subjects: []string{"crm.>"}, MaxMsgSize: 1024}); err != nil {
		t.Fatal(err)
	}
	target := must(t, s, "/CRM?subject=crm.golden")
	text := func(n int) map[string]any { return map[string]any{"name": strings.Repeat("x", n)} }
	err := target.Deliver(t.Context(), sink.Batch{Token: 1, Events: []sink.Event{event(1, 1, 1, text(2000)), event(2, 1, 2, text(8000)), event(3, 1, 3, text(10))}})
	rejected, ok := errors.AsType[*sink.RejectedError](err)
	if !ok || len(rejected.Events) != 2 {
		t.Fatal(err)
	}
	for n, want := range map[byte]int64{1: 0, 2: 0, 3: sinktest.Rev(1, 3)} {
		if e, err := get(t.Context(), js, "CRM", "crm.golden", locality.ID{0: n, 15: 1}); err != nil || e.Rev != want {
			t.Errorf("%d: %+v, %v", n, e, err)
		}
	}
}

// A connection that is lost is the reason, not the request that ran out of time.
func TestDeliver_LostConnection(t *testing.T) {
	t.Parallel()
	s, _ := broker(t)
	target := must(t, s, "/CRM?subject=crm.golden")
	s.Shutdown()
	s.WaitForShutdown()
	for tries := 0; ; tries++ { // the client notices it a little later
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err := target.Deliver(ctx, sink.Batch{Token: 1, Events: []sink.Event{event(1, 1, 1, map[string]any{"name": "x"})}})
		_, of := target.DeliverChanges(ctx, []sink.Change{{Change: changelog.Change{Seq: 1}}})
		cancel()
		if err != nil && strings.Contains(err.Error(), "does not answer") && of != nil &&
			strings.Contains(of.Error(), "does not answer") {
			return
		}
		if tries == 200 {
			t.Fatalf("the server is gone: %v", err)
		}
	}
}

// A stream that cannot be a target is refused, and so are messages of others.
func TestOpen_RefusesOtherStreams(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	for _, c := range []jetstream.StreamConfig{
		{Name: "QUEUE", Subjects: []string{"QUEUE.*"}, Retention: jetstream.WorkQueuePolicy},
		{Name: "OTHER", Subjects: []string{"a.>"}},
	} {
		if _, err := js.CreateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"/QUEUE": "want limits", "/OTHER": "does not take the subjects OTHER.*", "/MORE?subject=a.b": "overlap"} {
		if _, err := open(t, s, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	target, e := must(t, s, "/OTHER?subject=a.b"), event(1, 1, 1, nil)
	if _, err := js.Publish(t.Context(), "a.b."+e.ID.String(), []byte("of another program")); err != nil {
		t.Fatal(err)
	}
	if err := target.Deliver(t.Context(), sink.Batch{Token: 1, Events: []sink.Event{e}}); !errors.Is(err, sink.ErrStop) {
		t.Errorf("a message of another program: %v", err)
	}
}

func TestDriver_RefusesOtherURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"nats://h": "/STREAM", "nats://h/a.b": "/STREAM", "nats://h/A?x=1": "not known", "nats://h/A?subject=": "prefix",
		"nats://h/A?subject=$JS.API":     "prefix",
		"nats://h/A?subject=a&subject=b": "prefix", "nats://h/A?subject=a.*": "prefix",
		"nats://ann:hidden@h/A": "has a password",
	} {
		if _, _, err := sink.ParseURL(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
