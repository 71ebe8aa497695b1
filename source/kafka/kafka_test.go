// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/source/kafka"
	"github.com/locus-db/locus/source/sourcetest"
)

// cluster starts a broker with topic customers, and returns its URL and a client of it.
func cluster(t *testing.T, partitions int32, options ...kgo.Opt) (*url.URL, *kgo.Client) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, "customers"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(c.ListenAddrs()...), kgo.DefaultProduceTopic("customers"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	u, err := source.ParseURL("kafka://" + strings.Join(c.ListenAddrs(), ",") + "/customers")
	if err != nil {
		t.Fatal(err)
	}
	return u, client
}

func open(u *url.URL) func(context.Context, source.Position) (source.Stream, error) {
	return func(ctx context.Context, at source.Position) (source.Stream, error) {
		return kafka.Driver.Open(ctx, source.Spec{Name: "crm", URL: u}, at)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(t *testing.T) sourcetest.Harness {
		u, client := cluster(t, 1)
		return sourcetest.Harness{
			Publish: func(ctx context.Context, key, value string) error {
				return client.ProduceSync(ctx, &kgo.Record{Key: []byte(key), Value: []byte(value)}).FirstErr()
			},
			Open: open(u),
			Trim: func(ctx context.Context, before int64) error {
				req := kmsg.NewPtrDeleteRecordsRequest()
				topic := kmsg.NewDeleteRecordsRequestTopic()
				topic.Topic = "customers"
				partition := kmsg.NewDeleteRecordsRequestTopicPartition()
				partition.Offset = before
				topic.Partitions = append(topic.Partitions, partition)
				req.Topics = append(req.Topics, topic)
				_, err := req.RequestWith(ctx, client)
				return err
			},
		}
	})
}

// Messages of a transaction are read once it is committed, messages of an aborted one never, and the lag ends at 0.
func TestStream_ReadsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	u, client := cluster(t, 1, kgo.TransactionalID("t"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i, commit := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(ctx, &kgo.Record{Value: fmt.Append(nil, "v", i)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(ctx, commit); err != nil {
			t.Fatal(err)
		}
	}
	s, err := open(u)(ctx, source.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := s.Position()
	var values []string
	for {
		ends, err := s.Ends(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if at.Lag(ends) == 0 {
			break
		}
		batch, err := s.Fetch(ctx, 10)
		if err != nil {
			t.Fatalf("%v of %v: %v", at, ends, err)
		}
		for _, m := range batch {
			if at.Pass(m); !m.Marker {
				values = append(values, string(m.Value))
			}
		}
	}
	if fmt.Sprint(values) != "[v1]" {
		t.Errorf("read %v", values)
	}
}

// Every partition is read, including added ones, and the position is copied to the consumer group.
func TestStream_ReadsAddedPartitions(t *testing.T) {
	t.Parallel()
	u, client := cluster(t, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := open(u)(ctx, source.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	req := kmsg.NewPtrCreatePartitionsRequest()
	topic := kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = "customers", 3
	req.Topics = append(req.Topics, topic)
	if _, err := req.RequestWith(ctx, client); err != nil {
		t.Fatal(err)
	}
	if ends, err := s.Ends(ctx); err != nil || len(ends) != 3 {
		t.Fatal(ends, err)
	}
	client.ForceMetadataRefresh()
	at := s.Position()
	for p := range int32(3) {
		if err := client.ProduceSync(ctx, &kgo.Record{Partition: p, Value: []byte("v")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		batch, err := s.Fetch(ctx, 10)
		if err != nil || len(batch) != 1 || batch[0].Partition != p {
			t.Fatal(p, batch, err)
		}
		at.Pass(batch[0])
	}
	if err := s.Mark(ctx, at); err != nil {
		t.Fatal(err)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Group = "locus-crm"
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = "locus-crm"
	fetch.Groups = append(fetch.Groups, group)
	resp, err := fetch.RequestWith(ctx, client)
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for _, t := range resp.Groups[0].Topics {
		for _, p := range t.Partitions {
			copied += int(p.Offset)
		}
	}
	if copied != 3 {
		t.Errorf("the group has %d messages of 3", copied)
	}
}

func TestDriver_RefusesOtherURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"kafka://b1":                             "/TOPIC",
		"kafka://b1/a/b":                         "/TOPIC",
		"kafka://b1/a?x=1":                       "not known",
		"kafka://ann@b1/a":                       "sasl=",
		"kafka://b1/a?sasl=plain":                "USER@",
		"kafka://ann:secret@b1/a?sasl=plain":     "would be stored",
		"rabbit://b1/a":                          "want kafka://",
		"b1:9092/a":                              "no URL",
		"kafka://ann@b1/a?sasl=scram-sha-1&tls=": "not known",
	} {
		if _, err := source.ParseURL(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"kafka://b1/a", "kafka://b1:9092,b2:9093/a.b-c?tls=true", "kafka://ann@b1/a?sasl=scram-sha-512"} {
		if _, err := source.ParseURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A topic that is not there is named as such.
func TestStream_NoTopic(t *testing.T) {
	t.Parallel()
	u, _ := cluster(t, 1)
	u.Path = "/orders"
	if _, err := open(u)(t.Context(), source.Position{}); err == nil || !strings.Contains(err.Error(), "there is no topic orders") {
		t.Error(err)
	}
}

// A topic that was deleted and created while it was read is another one.
func TestStream_CreatedAgain(t *testing.T) {
	t.Parallel()
	u, client := cluster(t, 1)
	stream, err := open(u)(t.Context(), source.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	drop := kmsg.NewPtrDeleteTopicsRequest()
	drop.TopicNames = []string{"customers"}
	name := kmsg.NewDeleteTopicsRequestTopic()
	name.Topic = kmsg.StringPtr("customers")
	drop.Topics = append(drop.Topics, name)
	if _, err := drop.RequestWith(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "customers", 1, 1
	create.Topics = append(create.Topics, topic)
	if _, err := create.RequestWith(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Ends(t.Context()); !errors.Is(err, source.ErrGap) {
		t.Errorf("created again: %v", err)
	}
}
