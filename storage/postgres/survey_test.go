// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage/postgres"
)

// surveyed returns the only server of some databases.
func surveyed(t *testing.T, d *postgres.Driver, urls ...string) cell.Server {
	t.Helper()
	all := d.Survey(t.Context(), urls)
	if len(all) != 1 {
		t.Fatalf("%d servers: %+v", len(all), all)
	}
	return all[0]
}

// A server with a standby and an archive that fails, seen by a superuser, by a role that only owns databases, and as a
// standby itself; then it is gone.
func TestSurvey(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, &pgtest.Options{Settings: map[string]string{"archive_mode": "on", "archive_command": "'false'"}})
	d := postgres.NewDriver(&postgres.Options{Connections: 7})
	c, err := d.Dial(t.Context(), s.URL(s.Database(t)), true)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	replica := s.Standby(t)
	replica.CatchUp(t, s)
	s.Exec(t, "postgres", "CREATE ROLE locus LOGIN")
	s.Exec(t, "postgres", "SELECT pg_switch_wal()")

	got := surveyed(t, d, s.URL("postgres"), s.URL("template1"))
	for !got.ArchiveFails && t.Context().Err() == nil { // the archiver takes its time
		got = surveyed(t, d, s.URL("postgres"))
	}
	switch {
	case got.Trouble != "" || !strings.HasPrefix(got.Version, "1") || got.Pooled || got.PoolerNamed || got.Recovering || !got.Archives:
		t.Errorf("%+v", got)
	case got.Budget != 7 || got.Own != 1 || got.Connections < 20 || got.Used < 1 || got.Used > 5:
		t.Errorf("connections: %+v", got)
	case got.ClockMS != 0:
		t.Errorf("the clock of this machine is %d ms ahead of itself", got.ClockMS)
	case got.Hidden || len(got.Standbys) != 1 || got.Standbys[0].State != "streaming" || got.Standbys[0].Sync != "async":
		t.Errorf("standbys: %+v", got.Standbys)
	}
	plain := surveyed(t, d, strings.Replace(s.URL("postgres"), "user=postgres", "user=locus", 1))
	if plain.Trouble != "" || !plain.Hidden || len(plain.Standbys) != 1 || plain.Used < 1 || !plain.ArchiveFails {
		t.Errorf("by an ordinary role: %+v", plain)
	}
	copied := surveyed(t, postgres.NewDriver(&postgres.Options{Standby: true}), replica.URL("postgres"))
	if copied.Trouble != "" || !copied.Recovering || len(copied.Standbys) != 0 {
		t.Errorf("the standby: %+v", copied)
	}
	s.Kill(t)
	if gone := surveyed(t, d, s.URL("postgres")); gone.Trouble == "" || gone.Name != got.Name {
		t.Errorf("a server that is gone: %+v", gone)
	}
	s.Restart(t)
}

// A pooler is recognised whatever the URL says.
func TestSurvey_Pooler(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	d := postgres.NewDriver(nil)
	if got := surveyed(t, d, s.Pooler(t, 2).URL("postgres")+"&pooler=1"); got.Trouble != "" || !got.Pooled || !got.PoolerNamed {
		t.Errorf("through a pooler: %+v", got)
	}
	if got := surveyed(t, d, s.URL("postgres")+"&pooler=1"); got.Trouble != "" || got.Pooled || !got.PoolerNamed {
		t.Errorf("without one: %+v", got)
	}
}
