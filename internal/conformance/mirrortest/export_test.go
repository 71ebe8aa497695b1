// SPDX-License-Identifier: Apache-2.0

package mirrortest

// Cases is the suite, for its own test.
var Cases = cases
