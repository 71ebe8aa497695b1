// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"

	"github.com/locus-db/locus/sink"
)

// Last and Publish are the two halves of sending an event, between which an owner may be paused.
func (s *Sink) Last(ctx context.Context, e *sink.Event) (uint64, int64, error) { return s.last(ctx, e) }

func (s *Sink) Publish(ctx context.Context, e *sink.Event, last uint64) error {
	return s.publish(ctx, e, last)
}
