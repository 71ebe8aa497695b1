// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/internal/kafkatopic"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

const (
	// policy is the setting of a topic that keeps the last message of each key, if its value contains compact.
	policy  = "cleanup.policy"
	compact = "compact"
	// appears is how often a new topic is looked for.
	appears = 50 * time.Millisecond
)

// ensure creates a topic if it is missing, with a number of partitions, -1 for the brokers' default. An existing topic
// must be compacted.
func (s *Sink) ensure(ctx context.Context, name string, partitions int32) error {
	_, _, err := kafkatopic.Partitions(ctx, s.producer, name)
	if err == nil {
		return s.compacted(ctx, name)
	}
	if !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return err
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, -1
	setting := kmsg.NewCreateTopicsRequestTopicConfig()
	setting.Name, setting.Value = policy, kmsg.StringPtr(compact)
	topic.Configs = append(topic.Configs, setting)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, s.producer)
	if err != nil {
		return fmt.Errorf("create topic %s: %w", name, err)
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	for { // the other brokers hear of it
		_, _, err := kafkatopic.Partitions(ctx, s.producer, name)
		if !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return err
		}
		if delay.For(ctx, appears) != nil {
			return err
		}
	}
}

// compacted returns an error if the brokers say that a topic is not compacted.
func (s *Sink) compacted(ctx context.Context, name string) error {
	is, err := policyOf(ctx, s.producer, name)
	if err == nil && is != "" && !slices.Contains(strings.Split(is, ","), compact) {
		err = fmt.Errorf("topic %s has %s=%s, which forgets entities that do not change: set %s", name, policy, is, compact)
	}
	return err
}

// policyOf returns the broker's policy for old messages of a topic, "" if the user may not read it.
func policyOf(ctx context.Context, client *kgo.Client, name string) (string, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kmsg.ConfigResourceTypeTopic, name, []string{policy}
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return "", fmt.Errorf("read the settings of topic %s: %w", name, err)
	}
	for _, r := range resp.Resources {
		for _, c := range r.Configs {
			if c.Name == policy && c.Value != nil {
				return *c.Value, nil
			}
		}
	}
	return "", nil
}

// load reads the state that was committed last.
func (s *Sink) load(ctx context.Context) error {
	s.mark = mark{}
	err := s.scan(ctx, s.progress, 0, func(r *kgo.Record) error {
		if string(r.Key) != s.topic {
			return nil
		}
		var m mark
		if err := json.Unmarshal(r.Value, &m); err != nil {
			return fmt.Errorf("%w: topic %s has a message that is not of a sink: %w", sink.ErrStop, s.progress, err)
		}
		s.mark = m
		return nil
	})
	if err != nil || s.mark.Token != 0 {
		return err
	}
	_, partitions, err := kafkatopic.Partitions(ctx, s.producer, s.topic)
	if err != nil {
		return err
	}
	for _, p := range partitions {
		if err := s.scan(ctx, s.topic, p, func(*kgo.Record) error {
			return fmt.Errorf("%w: topic %s has messages, and topic %s has no position of a sink: give the sink a topic of its own", sink.ErrStop, s.topic, s.progress)
		}); err != nil {
			return err
		}
	}
	return nil
}

// scan reads the messages of a partition that are committed now.
func (s *Sink) scan(ctx context.Context, topic string, partition int32, each func(*kgo.Record) error) error {
	one := []int32{partition}
	first, err := kafkatopic.Offsets(ctx, s.producer, topic, one, kafkatopic.First)
	if err != nil {
		return err
	}
	last, err := kafkatopic.Offsets(ctx, s.producer, topic, one, kafkatopic.Last)
	if err != nil {
		return err
	}
	next, end := first[partition], last[partition]
	if next >= end {
		return nil
	}
	reader, err := kgo.NewClient(append(s.common[:len(s.common):len(s.common)],
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().At(next)}}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())...)
	if err != nil {
		return err
	}
	defer reader.Close()
	for next < end {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("read topic %s: %w", topic, err)
		}
		for r := range fetches.RecordsAll() {
			if r.Offset >= end {
				return nil
			}
			if next = r.Offset + 1; r.Attrs.IsControl() {
				continue
			}
			if err := each(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep writes tombstones for the IDs whose last rev is lower than the sweep. The topic is not read if it never had a
// lower rev. It is read twice only if there are such IDs, because after partitions were added an ID may be in two of
// them.
func (s *Sink) sweep(ctx context.Context, below int64) error {
	if s.mark.First == 0 || s.mark.First >= below {
		return nil
	}
	_, partitions, err := kafkatopic.Partitions(ctx, s.producer, s.topic)
	if err != nil {
		return err
	}
	lost := map[locality.ID]struct{}{}
	read := func(add bool) error {
		for _, p := range partitions {
			if err := s.scan(ctx, s.topic, p, func(r *kgo.Record) error {
				id, err := locality.Parse(string(r.Key))
				switch {
				case err != nil:
					return fmt.Errorf("%w: it has a message of another program: %w", sink.ErrStop, err)
				case revOf(r) >= below || r.Value == nil:
					delete(lost, id)
				case add:
					lost[id] = struct{}{}
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(true); err != nil {
		return err
	}
	if len(lost) > 0 {
		if err := read(false); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(slices.SortedFunc(maps.Keys(lost), locality.ID.Compare), batchSize) {
		records := make([]*kgo.Record, len(part))
		for i, id := range part {
			records[i] = s.message(id, below, sink.Delete)
		}
		if err := s.commit(ctx, records); err != nil {
			return err
		}
	}
	return nil
}
