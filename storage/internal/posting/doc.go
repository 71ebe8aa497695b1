// SPDX-License-Identifier: Apache-2.0

// Package posting stores the postings of a cell as sorted runs, packed into rows of about 2 KB. It has no database: a
// backend gives it the rows of a transaction.
//
//	Post ──► tail, in the row of the state ──► a run ──► eight runs become one ──► ...
//	         (up to 512 bytes)                 level 0    level 1
//
//	posting_state   one row: the list of runs, oldest first, and the tail
//	posting_chunk   run << 32 | n            chunk n of a run: postings in order
//	                run << 32 | 1 << 31 | n  part n of its index: the first posting of each chunk, and a filter of keys
//
// If two runs have an entry for one posting, the newer one counts; the tail is newer than all runs. An entry may state
// that the posting is gone. Such an entry is dropped when it is merged into the oldest run, because no older entry
// remains that it must hide.
//
// The indexes of runs are kept in memory: about 9 bits for each different key of a run for the filter, and 128 for each
// chunk of about 150 postings, in all 10 bits a posting. They are cached by number and hash, and each transaction reads
// the list of runs. So an index is never used for a run that was rolled back, replaced, or written by another process.
package posting
