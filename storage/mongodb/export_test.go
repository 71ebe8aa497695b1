// SPDX-License-Identifier: Apache-2.0

package mongodb

// Smaller sizes, so that a few documents need several bulks and queries.
func init() { inAtOnce, bulk = 40, 20 }
