// SPDX-License-Identifier: Apache-2.0

//go:build unix

package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/internal/pgtest"
)

// withServers stops what the tests have started.
func withServers(m *testing.M) pgtest.Tests { return pgtest.Main(mongotest.Main(m)) }

// The blocks that need a PostgreSQL server, in a shell of their own.
func TestCommands_OnPostgreSQL(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestCommands_DoWhatThePagesSay runs the blocks that need Locus alone")
	for _, p := range pages(t) {
		blocks := p.blocks(t)
		if !slices.ContainsFunc(blocks, func(b block) bool { return b.marker == "run"+onPostgres }) {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			// The source reads the log, and the sink has no sockets.
			if s.postgres = pgtest.Shared(t).URL; strings.Contains(p.path, "streams-in") || strings.Contains(p.path, "sinks") {
				own := pgtest.Start(t, &pgtest.Options{MaxConnections: 30, InMemory: true,
					Settings: map[string]string{"wal_level": "logical"}})
				s.postgres = func(db string) string { return own.Remote(t, db) }
			}
			s.page(p.path, blocks, onPostgres)
		})
	}
}
