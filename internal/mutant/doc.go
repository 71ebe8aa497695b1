// SPDX-License-Identifier: Apache-2.0

// Package mutant plants bugs, so that the tests of the promises can be seen to find them: a test that stays
// green with its bug proves nothing when it is green without. The package has tests only.
//
// # Bugs as patches
//
// A bug is a patch in bugs/, so that no line of the product mentions it:
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
// p04-merge-horizon.patch. What the contract of a Store promises is broken in the store of a test.
//
// TestPatches demands always, and quickly, that each patch is complete, that its test exists and that it
// applies to the code as it is: a change of the lines that it breaks has to plant it again. With
// LOCUS_LONG=1, as make test/long sets it, the patch is applied to copies that go build -overlay puts in
// the place of the files, also in the binaries that a test builds. Its test has to pass without the patch and
// to fail with it, by its own verdict: a bug that does not compile, or that ends the process in another way,
// is not found. One bug, with what its test says of it:
//
//	LOCUS_LONG=1 go test ./internal/mutant -v -run TestPatches/p06-put-without-a-seal
//
// # Mutations by chance
//
// TestRandomMutations, in make test/long, changes one place of a production file at a time: a hundred, which the day
// chooses, or LOCUS_SEED. The tests of the package have to find it. What survives is printed, and wants a test, or
// shows a line that is needless. What nothing can find is listed in equivalent.txt with the reason.
package mutant
