// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Verdict is what a person decided.
type Verdict string

// The verdicts. The first two are about a pair of records, the others about one.
const (
	// VerdictSame says that two records speak of one thing, whatever a comparison says: a must-link.
	VerdictSame Verdict = "same"
	// VerdictDifferent says that two records speak of two things: a cannot-link.
	VerdictDifferent Verdict = "different"
	// VerdictAnchor says that the entity which the record is in has the record's birth id.
	VerdictAnchor Verdict = "anchor"
	// VerdictValue says what the entity which the record is in shows as the value of an attribute.
	VerdictValue Verdict = "value"
)

// Decision is what a person decided about records. It is state, as records are: entities are a function
// of it. It stands under the puid of a record, which a key has for ever, so it outlives that the record
// is deleted and put again, another pack, and growth. One about a pair stands under both.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	A       PUID    `json:"a"`
	B       PUID    `json:"b,omitzero"` // of a pair
	// Attribute and Value belong to VerdictValue. No record need say so.
	Attribute string `json:"attribute,omitempty"`
	Value     string `json:"value,omitempty"`
	Author    string `json:"author,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// At is when it was made, to the millisecond, in UTC. Of two about one topic the newer counts.
	At time.Time `json:"at"`
	// Withdrawn tells that it counts no more. What is left tells that it did.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// Pair tells whether the decision is about two records.
func (d *Decision) Pair() bool { return d.Verdict == VerdictSame || d.Verdict == VerdictDifferent }

// Topic is what the decision is about, of the record that it stands under: the other record, the
// anchor, or an attribute. A newer decision on the topic takes its place.
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

// DecisionKey is where a decision stands.
type DecisionKey struct {
	A     PUID
	Topic string
}

// Key is where the decision stands.
func (d *Decision) Key() DecisionKey { return DecisionKey{d.A, d.Topic()} }

// Compare orders keys by record, then topic.
func (k DecisionKey) Compare(l DecisionKey) int {
	return cmp.Or(cmp.Compare(k.A, l.A), strings.Compare(k.Topic, l.Topic))
}

// Mirror is the decision about a pair as it stands under the other record.
func (d Decision) Mirror() Decision { d.A, d.B = d.B, d.A; return d }
