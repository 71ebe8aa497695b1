// SPDX-License-Identifier: Apache-2.0

package kafkatopic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Dials is a hook of a client that ends work for which no broker can be reached. The client alone tries again until the
// time for the work is over, and then does not know why.
type Dials struct {
	mu    sync.Mutex
	begun time.Time
	stop  context.CancelCauseFunc
}

var _ kgo.HookBrokerConnect = (*Dials)(nil)

// Watch returns a context for work that ends when, after Patience, a connection fails. One piece of work is watched at
// a time.
func (d *Dials) Watch(ctx context.Context) (watched context.Context, done func()) {
	watched, stop := context.WithCancelCause(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun, d.stop = time.Now(), stop
	return watched, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.stop = nil
		stop(nil)
	}
}

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (d *Dials) OnBrokerConnect(of kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.stop == nil:
	case err == nil:
		d.begun = time.Now()
	case time.Since(d.begun) >= Patience && !errors.Is(err, context.Canceled):
		d.stop(fmt.Errorf("connect to %s:%d: %w", of.Host, of.Port, err))
	}
}

// Cause returns why work failed: the cause of its ended context, if there is one.
func Cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}
