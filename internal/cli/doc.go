// SPDX-License-Identifier: Apache-2.0

// Package cli implements the command line: a noun, then a verb, with one file per command.
//
//	Main ─► Run ─► cobra ─► command ─► client ─┬─ --url          ─► a server
//	                │                          └─ --data, --map  ─► the same handler, in this process
//	                └─ error ─► exit.go ─► two lines (or exit_error JSON) and an exit code
//
// Every command that reads or writes data uses the HTTP API, so results are the same with and without a server. Data
// goes to the standard output, messages to the standard error. Flags override environment variables, whose names are
// derived from the flags, and these override defaults. Only exit.go defines exit codes.
package cli
