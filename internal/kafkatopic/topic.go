// SPDX-License-Identifier: Apache-2.0

package kafkatopic

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// End is an end of a partition.
type End int64

// The ends, as the protocol numbers them. Last is the end of the committed messages.
const (
	First End = -2
	Last  End = -1
)

// Partitions returns the ID of a topic, zero from brokers before 2.8, and the numbers of its partitions. The error
// wraps kerr.UnknownTopicOrPartition if there is no such topic.
func Partitions(ctx context.Context, client *kgo.Client, name string) (id [16]byte, all []int32, err error) {
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return id, nil, fmt.Errorf("find topic %s: %w", name, err)
	}
	if len(resp.Topics) != 1 {
		return id, nil, fmt.Errorf("find topic %s: the broker does not say", name)
	}
	t := resp.Topics[0]
	err = kerr.ErrorForCode(t.ErrorCode)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return id, nil, fmt.Errorf("there is no topic %s: %w", name, err)
	}
	if err != nil {
		return id, nil, fmt.Errorf("find topic %s: %w", name, err)
	}
	for _, p := range t.Partitions {
		all = append(all, p.Partition)
	}
	slices.Sort(all)
	return t.TopicID, all, nil
}

// Offsets returns an end of each partition of a topic.
func Offsets(ctx context.Context, client *kgo.Client, name string, partitions []int32,
	end End) (map[int32]int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, 1 // read committed
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = name
	for _, n := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = n, int64(end)
		topic.Partitions = append(topic.Partitions, p)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("find the ends of topic %s: %w", name, err)
	}
	ends := map[int32]int64{}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("find the end of partition %d of topic %s: %w", p.Partition, name, err)
			}
			ends[p.Partition] = p.Offset
		}
	}
	for _, n := range partitions {
		if _, found := ends[n]; !found {
			return nil, fmt.Errorf("find the end of partition %d of topic %s: the broker does not say", n, name)
		}
	}
	return ends, nil
}
