// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"net/url"
	"testing"

	"github.com/locus-db/locus/sink/postgres"
)

// A definition comes over the network, and at a socket the server would sign in with the account of its process.
func TestP10_SinksHaveNoSockets(t *testing.T) {
	t.Setenv("PGHOST", "/run/postgresql")
	for text, want := range map[string]bool{
		"postgres://crm@db1/crm?table=t": true, "postgres://crm@db1/crm?table=t&host=db2": true,
		"postgres:///crm?table=t":                         false,
		"postgres://db1/crm?table=t&host=/run/postgresql": false, "postgres://db1/crm?table=t&host=db1,/run": false,
		"postgres://db1/crm?table=t&host=@x":                 false,
		"postgres://db1/crm?table=t&sslrootcert=/etc/passwd": false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := postgres.Driver.Check(u); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
