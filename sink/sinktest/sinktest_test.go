// SPDX-License-Identifier: Apache-2.0

package sinktest_test

import (
	"context"
	"testing"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

func open(m *sinktest.Memory) sinktest.Target {
	return sinktest.Target{Sink: m, Get: func(_ context.Context, id locality.ID) (sink.Event, error) { return m.Get(id), nil }}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	sinktest.Run(t, func(*testing.T) sinktest.Target { return open(&sinktest.Memory{}) })
}

func TestMemory_Keeps(t *testing.T) {
	t.Parallel()
	sinktest.Run(t, func(*testing.T) sinktest.Target { return open(&sinktest.Memory{Keeps: true}) })
}
