// SPDX-License-Identifier: Apache-2.0

// Package rollups defines, reads, verifies and explains rollups, and keeps them up to date: each cell has a
// follower, and the processes share the cells under leases. Package rollup defines rollups and how the follower
// of one cell applies its log.
//
// Use it through DB.Rollups of package locus.
package rollups
