// SPDX-License-Identifier: Apache-2.0

package mongodb

// What several bulks and several questions are needed for is the same with a tenth of the documents.
func init() { inAtOnce, bulk = 100, 50 }
