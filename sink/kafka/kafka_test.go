// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/kafka"
	"github.com/locus-db/locus/sink/sinktest"
)

// cluster starts a broker.
func cluster(t *testing.T, opts ...kfake.Opt) []string {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.NumBrokers(1), kfake.DefaultNumPartitions(3))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()
}

func open(t *testing.T, brokers []string, topic string) (*kafka.Sink, error) {
	t.Helper()
	u, err := url.Parse("kafka://" + brokers[0] + "/" + topic)
	if err != nil {
		t.Fatal(err)
	}
	s, err := kafka.Open(t.Context(), u, secret.Text{})
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func must(t *testing.T, brokers []string, topic string) *kafka.Sink {
	t.Helper()
	s, err := open(t, brokers, topic)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eventOf returns the event of a message.
func eventOf(r *kgo.Record) (e sink.Event, err error) {
	headers := map[string]string{}
	for _, h := range r.Headers {
		headers[h.Key] = string(h.Value)
	}
	if r.Value == nil {
		e.ID, err = locality.Parse(string(r.Key))
		_, scanned := fmt.Sscan(headers["rev"], &e.Rev)
		e.Op = sink.Op(headers["op"])
		return e, errors.Join(err, scanned)
	}
	if err := json.Unmarshal(r.Value, &e); err != nil {
		return e, err
	}
	if list, ok := e.View["phones"].([]any); ok {
		texts := []string{}
		for _, one := range list {
			texts = append(texts, one.(string))
		}
		e.View["phones"] = texts
	}
	if string(r.Key) != e.ID.String() || headers["rev"] != fmt.Sprint(e.Rev) || headers["op"] != string(e.Op) {
		return e, fmt.Errorf("the key %q or the headers %v differ from %+v", r.Key, headers, e)
	}
	return e, nil
}

// committed returns the last event of each ID that is committed. Revs must rise.
func committed(ctx context.Context, s *kafka.Sink) (map[locality.ID]sink.Event, error) {
	events := map[locality.ID]sink.Event{}
	err := s.Committed(ctx, func(r *kgo.Record) error {
		e, err := eventOf(r)
		if err == nil && e.Rev <= events[e.ID].Rev {
			err = fmt.Errorf("the rev of %v goes from %d to %d", e.ID, events[e.ID].Rev, e.Rev)
		}
		events[e.ID] = e
		return err
	})
	return events, err
}

func TestConformance(t *testing.T) {
	t.Parallel()
	brokers := cluster(t)
	sinktest.Run(t, func(t *testing.T) sinktest.Target {
		topic := strings.NewReplacer("/", ".").Replace(t.Name())
		s := must(t, brokers, topic)
		u, err := url.Parse("kafka://" + brokers[0] + "/" + topic)
		if err != nil {
			t.Fatal(err)
		}
		r, err := kafka.OpenReader(t.Context(), u, secret.Text{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return sinktest.Target{Sink: s, Reader: r, Get: func(ctx context.Context, id locality.ID) (sink.Event, error) {
			events, err := committed(ctx, s)
			if err != nil {
				return sink.Event{}, err
			}
			return events[id], nil
		}}
	})
}

func event(n byte, token, count int64, view map[string]any) sink.Event {
	return sink.Event{ID: locality.ID{0: n, 15: 1}, Rev: sinktest.Rev(token, count), Op: sink.Upsert, Kind: "place",
		Records: []string{"a:1"}, View: view}
}

func at(base int64) *sink.Position { return &sink.Position{Installation: "x", Base: base} }

// A former owner is refused by the broker once another one has opened the topic, and the new owner is not disturbed.
func TestP17_FormerOwnersAreFenced(t *testing.T) {
	t.Parallel()
	brokers := cluster(t)
	former := must(t, brokers, "golden")
	for count, e := range []sink.Event{event(1, 5, 1, nil), event(2, 5, 2, nil)} {
		if err := former.Deliver(t.Context(), sink.Batch{Token: 5, Position: at(int64(count)), Events: []sink.Event{e}}); err != nil {
			t.Fatal(err)
		}
	}
	current := must(t, brokers, "golden")
	if got, err := current.Position(t.Context()); err != nil || got.Base != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	for range 2 {
		if err := former.Deliver(t.Context(), sink.Batch{Token: 5, Position: at(9), Events: []sink.Event{event(3, 5, 3, nil)}}); !errors.Is(err, sink.ErrFenced) {
			t.Errorf("a former owner gets %v", err)
		}
	}
	if err := current.Deliver(t.Context(), sink.Batch{Token: 6, Position: at(2), Events: []sink.Event{event(1, 6, 1, nil)}}); err != nil {
		t.Fatal(err)
	}
	// One that was paused before it opened the topic takes it over, finds the token, and gives up.
	late := must(t, brokers, "golden")
	if err := late.Deliver(t.Context(), sink.Batch{Token: 5, Position: at(9)}); !errors.Is(err, sink.ErrFenced) {
		t.Errorf("a late owner gets %v", err)
	}
	next := must(t, brokers, "golden")
	events, err := committed(t.Context(), next)
	if got, _ := next.Position(t.Context()); err != nil || got.Base != 2 || len(events) != 2 || events[locality.ID{0: 1, 15: 1}].Rev != sinktest.Rev(6, 1) {
		t.Errorf("%+v at %+v, %v", events, got, err)
	}
}

// Whichever commit fails, the events and their position are either both there or both missing, and a repetition writes
// them once.
func TestP17_EventsAndPositionAreCommittedTogether(t *testing.T) {
	t.Parallel()
	for failing := range int32(4) {
		t.Run(fmt.Sprint(failing), func(t *testing.T) {
			t.Parallel()
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(3))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			var commits atomic.Int32
			c.ControlKey(int16(kmsg.EndTxn), func(req kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				if commits.Add(1) != failing+1 {
					return nil, nil, false
				}
				resp := req.ResponseKind().(*kmsg.EndTxnResponse)
				resp.ErrorCode = kerr.UnknownServerError.Code
				return resp, nil, true
			})
			s, failed := must(t, c.ListenAddrs(), "golden"), 0
			for n := range int64(3) {
				batch := sink.Batch{Token: 1, Position: at(n + 1),
					Events: []sink.Event{event(1, 1, 2*n+1, nil), event(byte(n+2), 1, 2*n+2, nil)}}
				delivered := s.Deliver(t.Context(), batch)
				s = must(t, c.ListenAddrs(), "golden") // another process looks
				events, err := committed(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := s.Position(t.Context())
				if got.Base > 0 && events[locality.ID{0: 1, 15: 1}].Rev != sinktest.Rev(1, 2*got.Base-1) ||
					len(events) != []int{0, 2, 3, 4}[got.Base] {
					t.Errorf("%+v at %+v", events, got)
				}
				if got.Base == n+1 {
					continue
				}
				if failed++; delivered == nil {
					t.Errorf("batch %d is acknowledged, and the position is %+v", n, got)
				}
				if err := s.Deliver(t.Context(), batch); err != nil {
					t.Error(err)
				}
			}
			if events, err := committed(t.Context(), s); err != nil || len(events) != 4 || failed != int(1-failing/3) {
				t.Errorf("%d events after %d failures, %v", len(events), failed, err)
			}
		})
	}
}

// A message larger than the brokers admit is a dead letter, the others are delivered, and the position passes it.
func TestDeliver_RejectsWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	s := must(t, cluster(t), "golden")
	large := event(2, 1, 2, map[string]any{"name": strings.Repeat("x", 1<<21)})
	err := s.Deliver(t.Context(), sink.Batch{Token: 1, Position: at(7),
		Events: []sink.Event{event(1, 1, 1, nil), large, event(3, 1, 3, nil)}})
	rejected, ok := errors.AsType[*sink.RejectedError](err)
	if !ok || len(rejected.Events) != 1 || rejected.Events[0].ID != large.ID {
		t.Fatal(err)
	}
	events, err := committed(t.Context(), s)
	if got, _ := s.Position(t.Context()); err != nil || len(events) != 2 || got.Base != 7 {
		t.Errorf("%+v at %+v, %v", events, got, err)
	}
}

// A sink goes on after an error of the broker, and a batch that was committed before is not written again.
func TestDeliver_ConnectsAgain(t *testing.T) {
	t.Parallel()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s := must(t, c.ListenAddrs(), "golden")
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		resp := req.ResponseKind().(*kmsg.ProduceResponse)
		for _, of := range req.(*kmsg.ProduceRequest).Topics {
			topic := kmsg.NewProduceResponseTopic()
			topic.Topic, topic.TopicID = of.Topic, of.TopicID
			for _, p := range of.Partitions {
				one := kmsg.NewProduceResponseTopicPartition()
				one.Partition, one.ErrorCode = p.Partition, kerr.TopicAuthorizationFailed.Code
				topic.Partitions = append(topic.Partitions, one)
			}
			resp.Topics = append(resp.Topics, topic)
		}
		return resp, nil, true
	})
	batch := sink.Batch{Token: 1, Position: at(1), Events: []sink.Event{event(1, 1, 1, nil)}}
	if err := s.Deliver(t.Context(), batch); err == nil || errors.Is(err, sink.ErrFenced) {
		t.Error(err)
	}
	for range 2 {
		if err := s.Deliver(t.Context(), batch); err != nil {
			t.Error(err)
		}
	}
	if events, err := committed(t.Context(), s); err != nil || len(events) != 1 {
		t.Errorf("%+v, %v", events, err)
	}
}

// A delivery to brokers that are gone ends with why, and long before its time is over.
func TestDeliver_SaysWhyNoBrokerAnswers(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "nothing; it waits half a minute for a broker")
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(3), kfake.SeedTopics(1, "trail"))
	if err != nil {
		t.Fatal(err)
	}
	s := must(t, c.ListenAddrs(), "golden")
	trail, err := openChanges(t, c.ListenAddrs(), "trail")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	begun := time.Now()
	err = s.Deliver(t.Context(), sink.Batch{Token: 1, Position: at(1), Events: []sink.Event{event(1, 1, 1, nil)}})
	_, failed := trail.DeliverChanges(t.Context(), []sink.Change{{Change: changelog.Change{Seq: 1}}})
	for _, err := range []error{err, failed} {
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > 40*time.Second {
		t.Errorf("both took %v", took)
	}
}

// After partitions were added, an ID may have messages in two of them: an old one does not mean that the ID is lost.
func TestDeliver_SweepsAfterPartitionsWereAdded(t *testing.T) {
	t.Parallel()
	brokers := cluster(t)
	former := must(t, brokers, "golden")
	refill := func(s *kafka.Sink, token int64, ids byte) {
		batch := sink.Batch{Token: token, Position: at(token)}
		for n := range ids {
			batch.Events = append(batch.Events, event(n+1, token, int64(n)+1, nil))
		}
		if err := s.Deliver(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	refill(former, 1, 40)
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	req, of := kmsg.NewPtrCreatePartitionsRequest(), kmsg.NewCreatePartitionsRequestTopic()
	of.Topic, of.Count = "golden", 7
	req.Topics = append(req.Topics, of)
	if resp, err := req.RequestWith(t.Context(), client); err != nil || resp.Topics[0].ErrorCode != 0 {
		t.Fatal(resp, err)
	}
	s := must(t, brokers, "golden")
	refill(s, 2, 39)
	if err := s.Deliver(t.Context(), sink.Batch{Token: 2, Position: at(2), Sweep: sinktest.Rev(2, 1)}); err != nil {
		t.Fatal(err)
	}
	deleted := map[locality.ID]bool{}
	if err := s.Committed(t.Context(), func(r *kgo.Record) error {
		e, err := eventOf(r)
		deleted[e.ID] = deleted[e.ID] || e.Op == sink.Delete
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for n := range byte(40) {
		if id := (locality.ID{0: n + 1, 15: 1}); deleted[id] != (n == 39) {
			t.Errorf("%d is deleted: %v", n, deleted[id])
		}
	}
}
