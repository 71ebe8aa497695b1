// SPDX-License-Identifier: Apache-2.0

// Package running stores the definitions of the sinks and the streams of an installation, and runs them.
//
//	Create, Pause, ... ─► Catalog ─► Row: all definitions, in the authority cell
//	                                  │ every second, or when Wake is signalled
//	                                  ▼
//	                               Runners: one for each definition that is not paused ─► Lease: one process works
//
// Variables are the environment variables that definitions may name for their secrets, and the hosts that get them.
package running
