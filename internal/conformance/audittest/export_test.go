// SPDX-License-Identifier: Apache-2.0

package audittest

// Cases are the suite, for its own test.
var Cases = cases
