// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Verdict is the content of a manual decision.
type Verdict string

// The verdicts. The first two apply to a pair of records, the others to one record.
const (
	// VerdictSame states that two records describe the same thing, whatever their comparison yields: a
	// must-link.
	VerdictSame Verdict = "same"
	// VerdictDifferent states that two records describe different things: a cannot-link.
	VerdictDifferent Verdict = "different"
	// VerdictAnchor makes the record the anchor of its entity, which then has the record's birth id.
	VerdictAnchor Verdict = "anchor"
	// VerdictValue sets the value that the record's entity shows for an attribute.
	VerdictValue Verdict = "value"
)

// AgentPrefix begins the author of a decision that a program made.
const AgentPrefix = "agent:"

// Decision is a manual decision about records. Decisions are state, as records are: entities are a function of both. A
// decision is stored under the puid of its record; one about a pair is stored under both. A key keeps its puid, so a
// decision survives deletion and re-insertion of the record, a new term-frequency table, and growth of the
// installation.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	A       PUID    `json:"a"`
	B       PUID    `json:"b,omitzero"` // the other record of a pair
	// Attribute and Value belong to VerdictValue. No record needs to have the value.
	Attribute string `json:"attribute,omitempty"`
	Value     string `json:"value,omitempty"`
	Author    string `json:"author,omitempty"`
	// By is the principal that a credential has proved to be the author, or to act for the author. "" means that no
	// credential proves the author.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// At is the time of the decision in UTC, to the millisecond. The newest decision on a topic counts.
	At time.Time `json:"at"`
	// Withdrawn marks a decision that no longer counts. The row is kept as a record of it.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// Batch names the decisions that were made in one step, and are withdrawn in one; "" for one that was made alone.
	Batch string `json:"batch,omitempty"`
	// Settles marks an answer that ends a disagreement. It is no answer of its own to the pair.
	Settles bool `json:"settles,omitempty"`
	// Earlier are the answers of other people that this decision about a pair has replaced, oldest first; at most
	// maxEarlier.
	Earlier Answers `json:"earlier,omitempty"`
}

// maxEarlier is how many replaced answers a decision keeps.
const maxEarlier = 8

// Pair reports whether the decision is about two records.
func (d *Decision) Pair() bool { return d.Verdict == VerdictSame || d.Verdict == VerdictDifferent }

// ByAgent reports whether a program made the decision: its author begins with AgentPrefix.
func (d *Decision) ByAgent() bool { return strings.HasPrefix(d.Author, AgentPrefix) }

// Topic returns what the decision is about within its record: the other record, the anchor, or an
// attribute. A newer decision replaces an older one on the same topic.
func (d *Decision) Topic() string {
	switch d.Verdict {
	case VerdictAnchor:
		return "anchor"
	case VerdictValue:
		return "value " + d.Attribute
	default:
		return "pair " + strconv.FormatInt(int64(d.B), 10)
	}
}

// DecisionKey is the key that a decision is stored under.
type DecisionKey struct {
	A     PUID
	Topic string
}

// Key returns the key that the decision is stored under.
func (d *Decision) Key() DecisionKey { return DecisionKey{d.A, d.Topic()} }

// Compare orders keys by record, then topic.
func (k DecisionKey) Compare(l DecisionKey) int {
	return cmp.Or(cmp.Compare(k.A, l.A), strings.Compare(k.Topic, l.Topic))
}

// Mirror returns the pair decision as it is stored under the other record.
func (d Decision) Mirror() Decision { d.A, d.B = d.B, d.A; return d }
