// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"net/url"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/kafkatopic"
	"github.com/locus-db/locus/secret"
)

// Committed reads the messages of the topic that are committed, each partition in order.
func (s *Sink) Committed(ctx context.Context, each func(*kgo.Record) error) error {
	_, partitions, err := kafkatopic.Partitions(ctx, s.producer, s.topic)
	for _, p := range partitions {
		if err == nil {
			err = s.scan(ctx, s.topic, p, each)
		}
	}
	return err
}

// Each reads the messages of the topic, each partition in order.
func (s *ChangeSink) Each(ctx context.Context, to *url.URL, each func(*kgo.Record) error) error {
	of := &Sink{topic: s.topic, producer: s.producer, common: kafkatopic.Options(to, secret.Text{})}
	return of.Committed(ctx, each)
}
