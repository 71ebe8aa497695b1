// SPDX-License-Identifier: Apache-2.0

// Package rollups defines, reads, verifies and explains rollups, and keeps them up to date: a follower for each cell, of
// which a process follows its share under leases. Package rollup says what a rollup is and how one cell follows its log.
//
// Use it through DB.Rollups of package locus.
package rollups
