// SPDX-License-Identifier: Apache-2.0

package mongodb

// What several bulks and several questions are needed for is the same with a few documents.
func init() { inAtOnce, bulk = 40, 20 }
