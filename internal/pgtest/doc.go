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
// Servers listen on a Unix socket in a directory of their own, so tests on one machine never meet, and
// a program that a test starts reaches them by the same URLs. They sync as servers in production
// do. The programs are looked for in $LOCUS_PG_BIN, then in the newest /usr/lib/postgresql/*/bin, then
// in PATH; where there are none a test is skipped, and fails under CI=1.
//
// What is easily done wrong, and is done here: PostgreSQL refuses to run as root, so that root runs it
// as another user, who must be able to reach its files; the server is a child of the test, not of
// pg_ctl, and is waited for, or the next start after a kill meets its lock file; each backend leads a
// process group of its own, and must have ended too; shared memory is mapped from files, and the rest
// of it removed, or each kill leaves a segment behind; the path of a socket has 107 bytes at most;
// initdb takes longer than all the rest, so its result is kept for the next time. Times on two cores: a
// server 0.15 s, a database 0.03 s, restarting after a kill 0.1 s.
package pgtest
