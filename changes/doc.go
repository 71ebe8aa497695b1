// SPDX-License-Identifier: Apache-2.0

// Package changes reads the logs of an installation's cells: what changed after a watermark, where the logs end, what ids
// lead to, and which records matched last. A Source is what package mirror follows.
//
// Use it through DB.Changes of package locus.
package changes
