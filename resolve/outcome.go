// SPDX-License-Identifier: Apache-2.0

package resolve

// Outcome is the result of putting a record.
type Outcome string

// The outcomes of a put.
const (
	Created   Outcome = "created"   // new, and the first record of its entity
	Matched   Outcome = "matched"   // new, and joined existing records
	Updated   Outcome = "updated"   // a new version of an existing record
	Unchanged Outcome = "unchanged" // the same content is already stored
	Stale     Outcome = "stale"     // not written: a newer or preferred observation is stored
)
