// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/locus-db/locus/internal/kafkatopic"
	"github.com/locus-db/locus/source"
)

func init() { source.Register("kafka", driver{}) }

// Driver reads topics.
var Driver source.Driver = driver{}

type driver struct{}

const (
	// fetchBytes bounds one response of a broker.
	fetchBytes = 8 << 20
	// absent is how long a single message is waited for before it counts as gone.
	absent = 5 * time.Second
)

// Check returns why a URL names no topic.
func (driver) Check(u *url.URL) error { return kafkatopic.Check(u) }

// Open connects and begins to read.
func (d driver) Open(ctx context.Context, spec source.Spec, at source.Position) (source.Stream, error) {
	if err := d.Check(spec.URL); err != nil {
		return nil, err
	}
	common := append(kafkatopic.Options(spec.URL, spec.Secret),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxBytes(fetchBytes),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	s := &stream{topic: kafkatopic.Topic(spec.URL), group: "locus-" + spec.Name, common: common}
	var err error
	if s.client, err = kgo.NewClient(s.common...); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", spec.URL.Host, err)
	}
	if err := s.start(ctx, at); err != nil {
		s.client.Close()
		return nil, err
	}
	return s, nil
}

// stream reads the partitions of one topic.
type stream struct {
	client *kgo.Client
	single *kgo.Client // reads single messages again; nil until there is one
	common []kgo.Opt
	topic  string
	id     [16]byte // of the topic; zero for old brokers
	group  string
	at     source.Position
	known  map[int32]bool // partitions that are read
}

// start checks the position against the topic and begins to read.
func (s *stream) start(ctx context.Context, at source.Position) error {
	ctx, cancel := context.WithTimeout(ctx, kafkatopic.Patience)
	defer cancel()
	log, partitions, err := s.partitions(ctx)
	if err != nil {
		return err
	}
	if at.Log != "" && at.Log != log {
		return fmt.Errorf("%w: topic %s was created again", source.ErrGap, s.topic)
	}
	first, err := s.offsets(ctx, partitions, kafkatopic.First)
	if err != nil {
		return err
	}
	last, err := s.offsets(ctx, partitions, kafkatopic.Last)
	if err != nil {
		return err
	}
	s.at, s.known = source.Position{Log: log, Next: map[int32]int64{}}, map[int32]bool{}
	for _, p := range partitions {
		next, begun := at.Next[p]
		switch {
		case begun && next < first[p]:
			return fmt.Errorf("%w: partition %d of topic %s begins at offset %d, after the next offset %d", source.ErrGap, p,
				s.topic, first[p], next)
		case begun && next > last[p]:
			return fmt.Errorf("%w: partition %d of topic %s ends at offset %d, before the next offset %d", source.ErrGap, p,
				s.topic, last[p], next)
		case !begun:
			next = first[p]
		}
		s.at.Next[p] = next
	}
	s.consume(s.at.Next)
	return nil
}

func (s *stream) consume(from map[int32]int64) {
	offsets := map[int32]kgo.Offset{}
	for p, next := range from {
		offsets[p], s.known[p] = kgo.NewOffset().At(next), true
	}
	s.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{s.topic: offsets})
}

// partitions returns the ID of the topic, "" from old brokers, and the numbers of its partitions.
func (s *stream) partitions(ctx context.Context) (log string, all []int32, err error) {
	if s.id, all, err = kafkatopic.Partitions(ctx, s.client, s.topic); err == nil && s.id != [16]byte{} {
		log = hex.EncodeToString(s.id[:])
	}
	return log, all, err
}

func (s *stream) offsets(ctx context.Context, partitions []int32, end kafkatopic.End) (map[int32]int64, error) {
	return kafkatopic.Offsets(ctx, s.client, s.topic, partitions, end)
}

// Position returns where reading began.
func (s *stream) Position() source.Position { return s.at.Clone() }

// Fetch returns the messages that have arrived.
func (s *stream) Fetch(ctx context.Context, limit int) ([]source.Message, error) {
	fetches := s.client.PollRecords(ctx, limit)
	batch := make([]source.Message, 0, fetches.NumRecords())
	fetches.EachRecord(func(r *kgo.Record) { batch = append(batch, fromBroker(r)) })
	if len(batch) > 0 {
		return batch, nil // an error comes again
	}
	for _, e := range fetches.Errors() {
		if ctx.Err() != nil && errors.Is(e.Err, ctx.Err()) {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("read partition %d of topic %s: %w", e.Partition, s.topic, e.Err)
	}
	return nil, cmp.Or(ctx.Err(), errors.New("no messages"))
}

func fromBroker(r *kgo.Record) source.Message {
	return source.Message{
		Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value, Time: r.Timestamp, Marker: r.Attrs.IsControl(),
	}
}

// Read reads one message with a client of its own.
func (s *stream) Read(ctx context.Context, partition int32, offset int64) (m source.Message, err error) {
	first, err := s.offsets(ctx, []int32{partition}, kafkatopic.First)
	if err != nil {
		return m, err
	}
	last, err := s.offsets(ctx, []int32{partition}, kafkatopic.Last)
	if err != nil {
		return m, err
	}
	if offset < first[partition] || offset >= last[partition] {
		return m, source.ErrGone
	}
	if s.single == nil {
		if s.single, err = kgo.NewClient(s.common...); err != nil {
			return m, fmt.Errorf("connect again: %w", err)
		}
	}
	s.single.AddConsumePartitions(map[string]map[int32]kgo.Offset{s.topic: {partition: kgo.NewOffset().At(offset)}})
	defer s.single.RemoveConsumePartitions(map[string][]int32{s.topic: {partition}})
	waiting, cancel := context.WithTimeout(ctx, absent)
	defer cancel()
	fetches := s.single.PollRecords(waiting, 1)
	for r := range fetches.RecordsAll() {
		if r.Offset != offset {
			return m, source.ErrGone // compacted
		}
		return fromBroker(r), nil
	}
	if waiting.Err() != nil && ctx.Err() == nil {
		return m, source.ErrGone
	}
	return m, fmt.Errorf("read offset %d of partition %d again: %w", offset, partition, cmp.Or(fetches.Err(), ctx.Err()))
}

// Ends returns the ends of all partitions, and begins to read added ones.
func (s *stream) Ends(ctx context.Context) (map[int32]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, kafkatopic.Patience)
	defer cancel()
	log, partitions, err := s.partitions(ctx)
	if err != nil {
		return nil, err
	}
	if log != s.at.Log {
		return nil, fmt.Errorf("%w: topic %s was created again", source.ErrGap, s.topic)
	}
	added := map[int32]int64{}
	for _, p := range partitions {
		if !s.known[p] {
			added[p] = 0
		}
	}
	if len(added) > 0 {
		s.consume(added)
	}
	return s.offsets(ctx, partitions, kafkatopic.Last)
}

// Mark commits the position to a consumer group without members.
func (s *stream) Mark(ctx context.Context, p source.Position) error {
	ctx, cancel := context.WithTimeout(ctx, kafkatopic.Patience)
	defer cancel()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = s.group, -1
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = s.topic, s.id // brokers take the one or the other
	for n, next := range p.Next {
		partition := kmsg.NewOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset = n, next
		topic.Partitions = append(topic.Partitions, partition)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return fmt.Errorf("copy the position to group %s: %w", s.group, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("copy the position to group %s: %w", s.group, err)
			}
		}
	}
	return nil
}

// Close ends the connections.
func (s *stream) Close() error {
	s.client.Close()
	if s.single != nil {
		s.single.Close()
	}
	return nil
}
