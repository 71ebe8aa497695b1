// SPDX-License-Identifier: Apache-2.0

package kafkatopic

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
)

// auth is the authentication of a client. Some brokers answer a wrong password by closing the connection, which the
// client takes for a broken one and tries again until Patience is over. auth ends the second attempt.
type auth struct {
	sasl.Mechanism
	refused atomic.Bool
}

var errRefused = errors.New("the broker closed the connection, as it does if the user or the password is wrong")

// Authenticate implements sasl.Mechanism.
func (a *auth) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	if a.refused.Swap(false) {
		return nil, nil, errRefused
	}
	return a.Mechanism.Authenticate(ctx, host)
}

var _ kgo.HookBrokerRead = (*auth)(nil)

// OnBrokerRead implements kgo.HookBrokerRead.
func (a *auth) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if key == kmsg.SASLAuthenticate.Int16() && errors.Is(err, io.EOF) {
		a.refused.Store(true)
	}
}
