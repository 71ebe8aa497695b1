// SPDX-License-Identifier: Apache-2.0

// Package records puts, reads, lists, deletes and erases records. A record is what a source says about a thing, stored
// under the source's own key. When Put returns, a record is durable, and resolved unless its Result is Pending.
//
// Use it through DB.Records of package locus.
package records
