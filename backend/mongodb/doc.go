// SPDX-License-Identifier: Apache-2.0

// Package mongodb keeps in MongoDB what needs one document at a time: counters, groups of rollups, and a
// mirror of the entities. Cells stay SQL databases.
package mongodb
