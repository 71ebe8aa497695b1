// SPDX-License-Identifier: Apache-2.0

package storagetest

// Cases exports the suite to its own test.
var Cases = cases
