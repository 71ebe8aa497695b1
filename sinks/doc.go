// SPDX-License-Identifier: Apache-2.0

// Package sinks stores the definitions of the sinks of an installation and runs them: every process that serves the
// installation takes the sinks whose leases are free. Package sink defines the protocol; the application imports the
// drivers of targets.
//
// The rows are definitions in the authority of the cell map: sinks has all definitions, sink/NAME the progress of one,
// sink/NAME/dead its dead letters, and sink/NAME/asked the requests to its owner to retry or drop them.
//
// Use it through DB.Sinks of package locus.
package sinks
