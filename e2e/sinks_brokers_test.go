// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/sink"
)

// brokerLog is what a reader of a broker has received. The revs of an id must rise, because brokers store no event
// twice and no older event after a newer one.
type brokerLog struct {
	t      *testing.T
	name   string
	mu     sync.Mutex
	events map[string]sink.Event
}

func (l *brokerLog) add(id string, rev int64, e sink.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.events[id].Rev; rev <= was {
		l.t.Errorf("%s: the rev of %s goes from %d to %d", l.name, id, was, rev)
	}
	e.Rev = rev
	l.events[id] = e
}

func (l *brokerLog) texts() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return textsOf(l.events)
}

// onKafka starts a broker, and reads what is committed to one of its topics.
func onKafka(t *testing.T) delivered {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(4))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	l := &brokerLog{t: t, name: "kafka", events: map[string]sink.Event{}}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics("golden"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.UnknownTopicRetries(-1), kgo.MetadataMinAge(50*time.Millisecond), kgo.MetadataMaxAge(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	reading.Go(func() {
		for ctx.Err() == nil {
			for r := range client.PollFetches(ctx).RecordsAll() {
				var rev int64
				for _, h := range r.Headers {
					if h.Key == "rev" {
						_, _ = fmt.Sscan(string(h.Value), &rev)
					}
				}
				e := sink.Event{Op: sink.Delete} // a tombstone
				if r.Value != nil {
					if err := json.Unmarshal(r.Value, &e); err != nil {
						t.Error(err)
					}
				}
				l.add(string(r.Key), rev, e)
			}
		}
	})
	t.Cleanup(func() { stop(); reading.Wait(); client.Close() })
	return delivered{"kafka://" + c.ListenAddrs()[0] + "/golden", l.texts}
}

// onNATS starts a broker, and reads a stream of it.
func onNATS(t *testing.T) delivered {
	t.Helper()
	broker, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
		StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go broker.Start()
	t.Cleanup(func() { broker.Shutdown(); broker.WaitForShutdown() })
	if !broker.ReadyForConnections(time.Minute) {
		t.Fatal("the broker does not start")
	}
	conn, err := nats.Connect(broker.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CRM", Subjects: []string{"crm.>"}}); err != nil {
		t.Fatal(err)
	}
	l := &brokerLog{t: t, name: "nats", events: map[string]sink.Event{}}
	consumer, err := js.OrderedConsumer(t.Context(), "CRM", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	reading, err := consumer.Consume(func(m jetstream.Msg) {
		var e sink.Event
		if err := json.Unmarshal(m.Data(), &e); err != nil {
			t.Error(err)
		}
		l.add(strings.TrimPrefix(m.Subject(), "crm.golden."), e.Rev, e)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reading.Stop)
	return delivered{"nats://" + broker.Addr().String() + "/CRM?subject=crm.golden", l.texts}
}

// A topic of Kafka and a stream of JetStream have the states of all ids in the end, each event once and in order,
// however often the server is killed while it delivers.
func TestP17_KilledServerDeliversToBrokers(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP17_KilledServerDelivers does it with a webhook")
	longtest.Slow(t)
	killedWhileDelivering(t, int64(longtest.Times(100, 1000)), map[string]delivered{"log": onKafka(t), "bus": onNATS(t)})
}
