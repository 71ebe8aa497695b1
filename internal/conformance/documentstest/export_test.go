// SPDX-License-Identifier: Apache-2.0

package documentstest

// Cases is the suite, for its own test.
var Cases = cases
