// SPDX-License-Identifier: Apache-2.0

// Package match decides whether two dirty records describe the same thing, and explains why. It is pure: no
// store, clock, network or randomness. Equal input gives equal output on every machine and in every order
// of arrival.
//
//	attributes as received                     "Joe's", "1000 Market St.", "(415) 555-2300"
//	   │  Schema.Check: only what is unreadable or over a limit is refused
//	   ▼
//	Normalise ──► Record                       joes · 1000 market st · +14155552300
//	   │
//	   ├─► Blocking keys   records that share one are compared:   phone 155552300
//	   │                                                      house number and street 1000 · market
//	   ▼
//	Compare(a, b) ──► Vector                   a level per field, four bits each
//	   │
//	   │     63        51           47       11     7      3    0
//	   │    ┌─────────┬────────────┬────────┬──────┬──────┬──────┐
//	   │    │ num ... │ text, src  │ id ... │ phone│ rest │ name │    src has one level; text uses three of its bits,
//	   │    └─────────┴────────────┴────────┴──────┴──────┴──────┘    people uses those of region
//	   ▼
//	Sum         the sum of the weights       +4.50 -0.30 +9.00 +6.50 = +19.70
//	   │
//	   ├─► Decide     same (5 bits and more), possible (0 to 5), different
//	   ├─► Explain    the sum as a waterfall, with the raw values of both sides
//	   ▼
//	Cluster     one component's records → things, by average link
//	ClusterAll  a whole set's, component by component
//
// A weight is a match weight: the base-2 logarithm of a Bayes factor, which states how many times likelier the observed
// agreement is if both records describe the same thing. One fixed table has the weight of every level, for all data;
// nothing is trained, unless a kind has its own weights (package learn). Weights are integers in hundredths of a bit,
// because float sums depend on their order. An edge stores only the vector, from which the explanation follows.
//
// The weight of a name depends on how rare its words are. Frequencies come from a [TermFrequencies], a table of term
// frequencies: frozen counts of a data set, or [DefaultTermFrequencies], whose tables list the common words of
// business. Live counts would make decisions depend on history.
//
// All text of a record with a title is one bag of words: title, categories, people, ids, and the attributes that the
// kind declares as text. A comparison grades how much of the shorter text the other contains. Model numbers are
// compared wherever they occur.
//
// A record has few blocking keys, because each costs a resolver a read and a write at a random location, and
// they are specific: few things should share one. A blocking key carried by more than [MaxBlockSize]
// records is a stop key and yields no candidates; for blocking keys without a location the limit is
// maxBlockAnywhere or [MaxBlockWords]. Records with identical content ([Record.Equal]) count once. The
// hashes are stored on disk and never change.
//
// The design avoids these traps, each with a test: asymmetric comparison (the pair is ordered by content
// first), null values taken for data ("00000", "N/A", (0, 0)), chains that share a name, numbered siblings
// ("Profile 1", "Profile 6"), and clusters that depend on the order of edges. A part of a place, such as
// the pharmacy in a store, loses bits but may still be mistaken for the place.
//
// Package internal/eval measures match quality on labelled sets; eval/baseline.json holds the frozen
// figures.
package match
