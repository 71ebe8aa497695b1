// SPDX-License-Identifier: Apache-2.0

// Package pgtest runs real PostgreSQL servers for tests, and kills, stops and restarts them.
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }
//
//	server := pgtest.Shared(t)              // one for all tests of the binary
//	url := server.URL(server.Database(t))   // postgres:///test_7?host=SOCKET&user=postgres
//
//	own := pgtest.Start(t, nil)             // one that this test may hurt
//	own.Kill()                              // SIGKILL to every process of it
//	own.Restart()
//
// Servers listen on a Unix socket in a directory of their own, so tests on one machine do not interfere, and
// programs that a test starts reach them by the same URLs. They sync like production servers. The programs are
// searched in $LOCUS_PG_BIN, then in the newest /usr/lib/postgresql/*/bin, then in PATH; if there are none, a test
// is skipped, or fails under CI=1.
//
// The package avoids several pitfalls. PostgreSQL refuses to run as root, so root runs it as another user, who must be
// able to reach its files. The server is a child of the test, not of pg_ctl, and must be waited for; otherwise the next
// start after a kill finds its lock file. Each backend leads a process group of its own and must have ended too. Shared
// memory is mapped from files, and the rest of it removed; otherwise each kill leaves a segment behind. The path of a
// socket is limited to 107 bytes. initdb takes longer than everything else, so its result is cached. Times on two
// cores: a server 0.15 s, a database 0.03 s, a restart after a kill 0.1 s.
package pgtest
