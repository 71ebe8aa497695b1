// SPDX-License-Identifier: Apache-2.0

// Package protocol is the key protocol: the steps that processes take so that a key never has two puids, whatever
// maps they have. A [Walk] is the lookup or put of one key, a [Rollout] makes a generation the current one, a
// [Compaction] takes generations out of the search. Package cell describes the rules that they follow and why these are
// sufficient.
//
// All three are values. Each returns its next [Request] and is given the [Reply]. They have no goroutine, clock or
// database, so the code that runs in production also runs in a model that explores every interleaving of three
// processes, three generations and a key, and in a simulator of killed servers, unreachable cells, lost replies and
// lost seals. For each rule there is a planted bug that omits it, and the model finds each of them.
package protocol
