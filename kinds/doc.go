// SPDX-License-Identifier: Apache-2.0

// Package kinds lists, creates, compares and migrates kinds. A kind defines how things of one sort are normalised,
// compared and merged.
//
// Use it through DB.Kinds of package locus.
package kinds
