// SPDX-License-Identifier: Apache-2.0

package resolve

// Outcome says what became of a record that was put.
type Outcome string

// The outcomes of a put.
const (
	Founded   Outcome = "founded"   // new, and the first record of its entity
	Joined    Outcome = "joined"    // new, and joined records that were there
	Updated   Outcome = "updated"   // a new version of a record that was there
	Unchanged Outcome = "unchanged" // the same content is stored already
	Stale     Outcome = "stale"     // a newer observation is stored already, or another one of the same moment that counts; nothing was written
)
