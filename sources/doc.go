// SPDX-License-Identifier: Apache-2.0

// Package sources stores the definitions of the streams of an installation and reads them: every process that serves
// the installation takes the sources whose leases are free. Package source defines the protocol; the application
// imports the drivers of brokers.
//
// The rows are definitions in the authority of the cell map: sources has all definitions, source/NAME the progress of
// one, and source/NAME/dead its dead letters.
//
// Use it through DB.Sources of package locus.
package sources
