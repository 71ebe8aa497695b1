// SPDX-License-Identifier: Apache-2.0

// Package decisions makes, withdraws and lists human decisions about records (same thing, different things, this value
// is right, this record is the anchor). Package review has the pairs of records to decide about.
//
// Use it through DB.Decisions of package locus.
package decisions
