// SPDX-License-Identifier: Apache-2.0

// Package review has the queue of pairs of records that people should decide about: in which order, assigned to whom,
// decided one by one or in bulk, and how far and how much in agreement people are.
//
// The queue is derived from the compared pairs and never stored: deciding about a pair removes it. Decisions themselves
// are made by package decisions. Use this package through DB.Review of package locus.
package review
