// SPDX-License-Identifier: Apache-2.0

// Package survey reads the compared pairs of a sample of records, with the decisions about them, and divides them into
// strata from which pairs are drawn at random. Package review asks about these pairs, package quality estimates from
// the answers.
package survey
