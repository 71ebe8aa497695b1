// SPDX-License-Identifier: Apache-2.0

// Package sinks stores which targets an installation delivers to, and delivers: every process that serves the installation
// takes the sinks whose leases are free. Package sink has the protocol; drivers of targets are imported by the
// application.
//
// The authority of the cell map holds the rows, as definitions: sinks has all definitions, sink/NAME the progress of one,
// sink/NAME/dead its dead letters, and sink/NAME/asked what its owner is asked to do with them.
//
// Use it through DB.Sinks of package locus.
package sinks
