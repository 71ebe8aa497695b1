// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/kafka"
)

// The topic of another program is not touched, and one that would forget entities is refused.
func TestOpen_RefusesOtherTopics(t *testing.T) {
	t.Parallel()
	brokers := cluster(t)
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for topic, policy := range map[string]string{"orders": "compact,delete", "hours": "delete"} {
		req := kmsg.NewPtrCreateTopicsRequest()
		of, setting := kmsg.NewCreateTopicsRequestTopic(), kmsg.NewCreateTopicsRequestTopicConfig()
		setting.Name, setting.Value = "cleanup.policy", &policy
		of.Topic, of.NumPartitions, of.ReplicationFactor, of.Configs = topic, 1, 1, append(of.Configs, setting)
		req.Topics = append(req.Topics, of)
		if _, err := req.RequestWith(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	must(t, brokers, "orders") // it is empty
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("of another program")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, brokers, "orders"); !errors.Is(err, sink.ErrStop) {
		t.Errorf("a topic with messages: %v", err)
	}
	if _, err := open(t, brokers, "hours"); err == nil || !strings.Contains(err.Error(), "cleanup.policy=delete") {
		t.Errorf("a topic that is not compacted: %v", err)
	}
}

func TestDriver_RefusesOtherURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"kafka://b1": "/TOPIC", "kafka://b1/a/b": "/TOPIC", "kafka://b1/a?tls_ca=/f": "not known",
		"kafka://ann@b1/a": "sasl=", "kafka://b1/a%20b": "is no topic",
		"kafka://ann:hidden@b1/a?sasl=plain": "has a password", "kafka://b1/" + strings.Repeat("a", 241): "is no topic",
	} {
		if _, _, err := sink.ParseURL(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// For a wrong password the error says that it may be wrong.
func TestOpen_WrongPassword(t *testing.T) {
	t.Parallel()
	brokers := cluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "locus", "right"))
	u, err := url.Parse("kafka://locus@" + brokers[0] + "/golden?sasl=scram-sha-512")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kafka.Open(t.Context(), u, secret.New("wrong")); err == nil || !strings.Contains(err.Error(), "password is wrong") {
		t.Errorf("%v", err)
	}
}
