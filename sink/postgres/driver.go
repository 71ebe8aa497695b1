// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/locus-db/locus/sink"
)

func init() { sink.Register(Driver, "postgres", "postgresql") }

// parameters are those that a definition may have: others name files of the server that runs the sink.
var parameters = []string{"table", "sslmode", "host", "port", "user", "application_name"}

// Driver delivers to tables.
var Driver = sink.Driver{
	Check: func(u *url.URL) error {
		for name := range u.Query() {
			if !slices.Contains(parameters, name) {
				return fmt.Errorf("postgres: the URL has a parameter %.40q: want only %s", name, strings.Join(parameters, ", "))
			}
		}
		_, err := parse(u.String())
		return err
	},
	Open: func(ctx context.Context, s sink.Spec) (sink.Sink, error) {
		return Open(ctx, s.URL.String(), &Options{Columns: s.Attributes, Password: &s.Secret})
	},
	Read: func(ctx context.Context, s sink.Spec) (sink.Reader, error) {
		return Open(ctx, s.URL.String(), &Options{Columns: s.Attributes, Password: &s.Secret})
	},
	Changes: func(ctx context.Context, s sink.Spec) (sink.ChangeSink, error) {
		return OpenChanges(ctx, s.URL.String(), &Options{Password: &s.Secret})
	},
	Lanes: 1, Batch: BatchSize,
}
