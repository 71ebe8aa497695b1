// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"
	"net/url"
	"regexp"

	"github.com/locus-db/locus/internal/kafkatopic"
	"github.com/locus-db/locus/sink"
)

func init() { sink.Register(driver, "kafka") }

// batchSize is a good size of batches; a sink must deliver one at a time, and each is a transaction.
const batchSize = 1000

// driver delivers to topics.
var driver = sink.Driver{
	Check: check,
	Open: func(ctx context.Context, s sink.Spec) (sink.Sink, error) {
		return Open(ctx, s.URL, s.Secret)
	},
	Read: func(ctx context.Context, s sink.Spec) (sink.Reader, error) {
		return OpenReader(ctx, s.URL, s.Secret)
	},
	Changes: func(ctx context.Context, s sink.Spec) (sink.ChangeSink, error) {
		return OpenChanges(ctx, s.URL, s.Secret)
	},
	Lanes: 1, Batch: batchSize,
}

// topicForm is the form of a topic's name. The topic with its progress has a longer name.
var topicForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,240}$`)

// check returns why a URL cannot be a target.
func check(u *url.URL) error {
	if err := kafkatopic.Check(u); err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	if topic := kafkatopic.Topic(u); !topicForm.MatchString(topic) {
		return fmt.Errorf("kafka: %.60q is no topic: want letters, digits, dots, - and _, at most 240", topic)
	}
	return nil
}
