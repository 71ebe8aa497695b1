// SPDX-License-Identifier: Apache-2.0

// Package mutant plants bugs and checks that the tests of the promises find them: a test that also passes with its
// bug proves nothing. The package has tests only.
//
// # Bugs as patches
//
// A bug is a patch in bugs/, so the product code contains no trace of it:
//
//	bug: pages of a rollup go on to the end of the cell that named most groups
//	find: ./rollup TestMerge_EndsWhereTheFirstCellDoes
//
//	diff --git a/rollup/merge.go b/rollup/merge.go
//	...
//
// The first line describes the bug. The second names the package and the test that must find it: an anchored go test
// -run pattern, with subtests after slashes; choose the fastest test that always finds the bug. The diff is in git
// format. The file is named after the promise and the bug: p04-merge-horizon.patch. Bugs in what the contract of a
// Store promises are planted in a test's store instead.
//
// TestPatches always checks, quickly, that each patch is complete, that its test exists, and that it applies to the
// current code: when the patched lines change, the patch must be adapted. With LOCUS_LONG=1, as set by make
// test/long, it applies the patch to copies that go build -overlay substitutes for the files, including in binaries
// that a test builds. The test must pass without the patch and fail with it, by its own verdict: a bug that does
// not compile, or ends the process in another way, does not count as found. To run one bug and see the output of
// its test:
//
//	LOCUS_LONG=1 go test ./internal/mutant -v -run TestPatches/p06-put-without-a-seal
//
// # Random mutations
//
// TestRandomMutations, in make test/long, changes one place of a production file at a time: a hundred places,
// chosen by the date or by LOCUS_SEED. The tests of the package must find each. It prints the survivors, which need
// a test or show a superfluous line. Mutations that no test can find are listed in equivalent.txt with the reason.
package mutant
