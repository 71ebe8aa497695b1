// SPDX-License-Identifier: Apache-2.0

// Package mutant plants bugs, so that the tests of the promises can be seen to find them. A bug stands
// behind its guard at the line that it breaks:
//
//	if mutant.On("P9b") { return nil }
//
// On is constant false, and the bug gone from the binary, unless it is built with the tag mutants;
// then the environment variable LOCUS_MUTANT names the one bug that is on. A test that stays green
// with its bug on says nothing when it is green without: TestMutants in this package fails for it.
package mutant
