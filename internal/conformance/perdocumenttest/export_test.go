// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

// Cases are the cases that countertest lacks, for the suite's own test.
var Cases = cases

// Memory is a cell in memory, with a bug if that is not empty.
func Memory(bug string) Cell { return Cell{Database: newMemory(nil, bug).database()} }
