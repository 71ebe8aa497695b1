// SPDX-License-Identifier: Apache-2.0

package engine

// OwnMetrics begins the names of the metrics that Locus counts itself by: every caller may read them, and only Locus
// adds to them.
const OwnMetrics = "locus."

// What Locus counts of itself.
const (
	OwnRecords = OwnMetrics + "records" // received and durable, whether they said anything new or not
	OwnMerges  = OwnMetrics + "merges"  // of entities
	OwnSplits  = OwnMetrics + "splits"
	OwnHits    = OwnMetrics + "hits"   // that became durable, each as often as it counts
	OwnErrors  = OwnMetrics + "errors" // responses of status 5xx
)
