// SPDX-License-Identifier: Apache-2.0

// Package records puts, reads, lists, deletes and erases records: what sources say about things, each under the source's
// own key. A record that is put is durable and resolved when Put returns, unless its Result is Pending.
//
// Use it through DB.Records of package locus.
package records
