// SPDX-License-Identifier: Apache-2.0

// Package decisions makes, withdraws and lists what people decide about records - these are one thing, these are two,
// this value holds, this record is the anchor - and lists the pairs that a person should decide about.
//
// Use it through DB.Decisions of package locus.
package decisions
