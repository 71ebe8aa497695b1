// SPDX-License-Identifier: Apache-2.0

package engine

// OwnMetrics is the name prefix of the metrics that Locus keeps about itself. Every caller may read them; only Locus
// adds to them.
const OwnMetrics = "locus."

// Metrics that Locus keeps about itself.
const (
	OwnRecords = OwnMetrics + "records" // records received and durable, changed or not
	OwnCreated = OwnMetrics + "created" // new records that are the first of their entity
	OwnMatched = OwnMetrics + "matched" // new records that joined others
	OwnRefused = OwnMetrics + "refused" // records refused or not written
	OwnMerges  = OwnMetrics + "merges"  // merges of entities
	OwnSplits  = OwnMetrics + "splits"
	OwnHits    = OwnMetrics + "hits"   // hits that became durable, each by its amount
	OwnErrors  = OwnMetrics + "errors" // responses with status 5xx
)
