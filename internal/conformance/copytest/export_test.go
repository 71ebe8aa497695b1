// SPDX-License-Identifier: Apache-2.0

package copytest

// Cases are the suite, for its own test.
var Cases = cases
