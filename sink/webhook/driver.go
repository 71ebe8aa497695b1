// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/locus-db/locus/internal/outbound"
	"github.com/locus-db/locus/sink"
)

func init() { sink.Register(driver, "https", "http") }

// driver delivers to URLs without a query, which is often a secret.
var driver = sink.Driver{
	Check: func(u *url.URL) error {
		if u.RawQuery != "" {
			return errors.New("webhook: the URL has a query, which may be a secret: leave it out, and verify the signatures")
		}
		if _, err := outbound.Check(u.String()); err != nil {
			return fmt.Errorf("webhook: %w", err)
		}
		return nil
	},
	Open:    func(_ context.Context, s sink.Spec) (sink.Sink, error) { return openSpec(s) },
	Changes: func(_ context.Context, s sink.Spec) (sink.ChangeSink, error) { return openSpec(s) },
	Lanes:   lanes, Batch: 1,
}

func openSpec(s sink.Spec) (*Sink, error) {
	opts := Options{Name: s.Name}
	if !s.Secret.Empty() {
		secrets, err := ParseSecrets(s.Secret.Reveal())
		if err != nil {
			return nil, err
		}
		opts.Secrets = secrets
	}
	return Open(s.URL.String(), opts)
}
