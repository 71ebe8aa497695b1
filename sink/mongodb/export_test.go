// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"

	"github.com/locus-db/locus/sink"
)

// Claim, Write and Store are the steps of a delivery, between which an owner may be paused.
func (s *Sink) Claim(ctx context.Context, token int64) error { return s.claim(ctx, token) }

func (s *Sink) Write(ctx context.Context, events ...sink.Event) error {
	_, err := s.write(ctx, events)
	return err
}

func (s *Sink) Store(ctx context.Context, token int64, at *sink.Position) error {
	return s.store(ctx, token, at)
}
