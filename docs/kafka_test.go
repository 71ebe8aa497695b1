// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/longtest"
)

// onKafka is behind the marker of a block that needs a broker of Kafka, which is at kafkaBroker in the pages.
const (
	onKafka     = ": kafka"
	kafkaBroker = "127.0.0.1:9092"
)

// The blocks that need Kafka, in a shell of their own. The command kcat of the pages is this program.
func TestCommands_OnKafka(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestCommands_DoWhatThePagesSay runs the blocks that need Locus alone")
	for _, p := range pages(t) {
		blocks := p.blocks(t)
		if !slices.ContainsFunc(blocks, func(b block) bool { return b.marker == "run"+onKafka }) {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DefaultNumPartitions(1), kfake.AllowAutoTopicCreation())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(cluster.Close)
			s.kafka = cluster.ListenAddrs()[0]
			s.pretend("kcat")
			s.page(p.path, blocks, onKafka)
		})
	}
}

// kcatCommand does as much of the command kcat as the pages use: -P puts the lines of its input, KEY DELIMITER VALUE,
// with -Z an empty value as none; -C -e prints what is committed in a topic.
func kcatCommand(args []string) error {
	flags := flag.NewFlagSet("kcat", flag.ContinueOnError)
	put, get := flags.Bool("P", false, ""), flags.Bool("C", false, "")
	brokers, topic := flags.String("b", "", ""), flags.String("t", "", "")
	delimiter, none := flags.String("K", "", ""), flags.Bool("Z", false, "")
	flags.Bool("e", false, "")
	flags.Bool("q", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch {
	case *put && !*get:
		return produce(ctx, *brokers, *topic, *delimiter, *none)
	case *get:
		return consume(ctx, *brokers, *topic)
	}
	return fmt.Errorf("kcat %q: no such command", args)
}

func produce(ctx context.Context, brokers, topic, delimiter string, none bool) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.AllowAutoTopicCreation())
	if err != nil {
		return err
	}
	defer client.Close()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		key, value, _ := bytes.Cut(bytes.Clone(lines.Bytes()), []byte(delimiter))
		if none && len(value) == 0 {
			value = nil
		}
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: key, Value: value}).FirstErr(); err != nil {
			return err
		}
	}
	return nil
}

// consume prints the keys and values of a topic with one partition, up to its end.
func consume(ctx context.Context, brokers, topic string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		return err
	}
	defer client.Close()
	fetched := client.PollFetches(ctx)
	if err := fetched.Err(); err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range fetched.Records() {
		fmt.Fprintf(&out, "%s\n", r.Value)
	}
	_, err = io.WriteString(os.Stdout, out.String())
	return err
}
