// SPDX-License-Identifier: Apache-2.0

// Package match decides whether two dirty records speak of one thing, and says
// why. It is pure: no store, no clock, no network, no randomness; equal input
// gives equal output on every machine and in every order of arrival.
//
//	attributes as received                     "Joe's", "1000 Market St.", "(415) 555-2300"
//	   │  Schema.Check: only what is unreadable or over a limit is refused
//	   ▼
//	Normalise ──► Record                       joes · 1000 market st · +14155552300
//	   │
//	   ├─► Features   64-bit keys under which records meet:   phone 155552300
//	   │                                                      house number and street 1000 · market
//	   ▼
//	Compare(a, b) ──► Vector                   a level per field, four bits each
//	   │
//	   │     63       51    47    43       11     7      3    0
//	   │    ┌───────┬─────┬─────┬───────┬───────┬──────┬──────┐
//	   │    │ unused│ src │ id  │  ...  │ phone │ rest │ name │
//	   │    └───────┴─────┴─────┴───────┴───────┴──────┴──────┘
//	   ▼
//	Score       sum of the levels' bits        +4.50 -0.30 +9.00 +6.50 = +19.70
//	   │
//	   ├─► Decide     same (5 bits and more), unsure (0 to 5), different
//	   ├─► Explain    the sum as a waterfall, with the raw values of both sides
//	   ▼
//	Cluster     one component's records → things, by average link
//	ClusterAll  a whole set's, component by component
//
// A score is the base-2 logarithm of a Bayes factor: how many times likelier
// the agreement is if both records speak of one thing. One fixed table holds
// the bits of every level, for all data; nothing is trained. Scores are whole
// hundredths, since sums of floating-point numbers depend on their order. The
// vector is all that an edge stores: it is its own explanation.
//
// A name weighs what its words tell. How rare a word is comes from a [Pack]:
// frozen counts of a data set, or [DefaultPack], whose tables know the common
// words of business. A live count would make decisions depend on history.
//
// Features are few, since each costs a resolver a read and a write at a random
// place, and local: a feature may only be carried by as many things as one spot
// holds. What more than [GenericAbove] records carry yields no candidates, and of
// what says nothing of where [GenericEverywhere] or [GenericWords] are enough; records that say the same
// ([Record.Equal]) count once. The hashes are stored on disk and never change.
//
// Traps that the design avoids, each with a test: comparison that is not
// symmetric (the pair is ordered by what the two say first), nothing taken for a
// value ("00000", "N/A", (0, 0)), chains of one name, numbered siblings
// ("Profile 1", "Profile 6"), and clusters that depend on the order of their
// edges. Parts of a place (the pharmacy in the store) lose bits, but may still
// be taken for the place.
//
// Package internal/eval measures all this on labelled sets; eval/baseline.json
// holds the frozen figures.
package match
