// SPDX-License-Identifier: Apache-2.0

// Package mutant plants bugs, so that the tests of the promises can be seen to find them. A bug stands
// behind its guard at the line that it breaks:
//
//	if mutant.On("P9b") { return nil }
//
// On is constant false, and the bug gone from the binary, unless it is built with the tag mutants;
// then the environment variable LOCUS_MUTANT names the one bug that is on. A test that stays green
// with its bug on says nothing when it is green without: TestMutants in this package fails for it.
//
// # Bugs as patches
//
// A new bug is a patch in bugs/, so that no line of the product speaks of it:
//
//	bug: pages of a rollup go on to the end of the cell that named most groups
//	find: ./rollup TestMerge_EndsWhereTheFirstCellDoes
//
//	diff --git a/rollup/merge.go b/rollup/merge.go
//	...
//
// The first line says what the bug does wrong. The second names the package and the test that has to find
// it: an anchored pattern as go test -run takes it, subtests behind slashes; the quickest one that finds
// the bug every time. The diff is that of git. The file is named after the promise and the bug:
// p04-merge-horizon.patch.
//
// TestPatches demands always, and quickly, that each patch is complete, that its test exists and that it
// applies to the code as it is: a change of the lines that it breaks has to plant it again. With
// LOCUS_LONG=1, as make test/long sets it, the patch is applied to copies that go build -overlay puts in
// the place of the files. Its test has to pass without the patch and to fail with it, by its own verdict:
// a bug that does not compile, or that ends the process in another way, is not found.
//
// # Mutations by chance
//
// TestRandomMutations, in make test/long, changes one place of a production file at a time: a hundred, which the day
// chooses, or LOCUS_SEED. The tests of the package have to find it. What survives is printed, and wants a test, or
// shows a line that is needless. What nothing can find is listed in equivalent.txt with the reason.
package mutant
