// SPDX-License-Identifier: Apache-2.0

// Package sources stores which streams an installation reads, and reads them: every process that serves the installation
// takes the sources whose leases are free. Package source has the protocol; drivers of brokers are imported by the
// application.
//
// The authority of the cell map holds the rows, as definitions: sources has all definitions, source/NAME the progress of
// one, and source/NAME/dead its dead letters.
//
// Use it through DB.Sources of package locus.
package sources
