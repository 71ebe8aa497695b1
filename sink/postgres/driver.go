// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/locus-db/locus/sink"
)

func init() { sink.Register(Driver, "postgres", "postgresql") }

// parameters are the parameters that a definition may have: others name files of the server that runs the sink.
var parameters = []string{"table", "sslmode", "host", "port", "user", "application_name"}

// Driver delivers to tables.
var Driver = sink.Driver{
	Check: func(u *url.URL) error {
		for name := range u.Query() {
			if !slices.Contains(parameters, name) {
				return fmt.Errorf("postgres: the URL has a parameter %.40q: want only %s", name, strings.Join(parameters, ", "))
			}
		}
		s, err := parse(u.String())
		if err != nil {
			return err
		}
		hosts := []string{s.config.Host}
		for _, f := range s.config.Fallbacks {
			hosts = append(hosts, f.Host)
		}
		if slices.ContainsFunc(hosts, func(h string) bool { return strings.HasPrefix(h, "/") || strings.HasPrefix(h, "@") }) {
			return errors.New("postgres: the URL names a Unix socket, which would sign in with the account of the server process: name a host, such as localhost")
		}
		return nil
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
