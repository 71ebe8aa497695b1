// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line: a noun, then a verb, one file per command.
//
//	Main ─► Run ─► cobra ─► command ─► client ─┬─ --url          ─► a server
//	                │                          └─ --data, --map  ─► the same handler, in this process
//	                └─ error ─► exit.go ─► two lines (or exit_error JSON) and an exit code
//
// Every command that reads or writes data speaks the HTTP API, so the answers are the same with a
// server and without one. Data goes to the standard output, talk to the standard error. Flags win
// over variables of the environment, whose names are derived from the flags', and those over
// defaults. Exit codes stand in exit.go alone.
package cli
