// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Phase is the stage of an action that an entry reports.
type Phase string

// The phases.
const (
	Start Phase = "start" // the first entry of a chain
	Begun Phase = "begun" // the action is about to begin
	Ended Phase = "ended" // the action has ended
	Sum   Phase = "sum"   // a summary of the events since the last one
)

// Class is a group of actions.
type Class string

// The classes.
const (
	Access   Class = "access"   // tokens, the audit log, refusals
	Admin    Class = "admin"    // cells, kinds, rollups, erasure, start of a process
	Decision Class = "decision" // decisions of people
	Write    Class = "write"    // records and hits
	Read     Class = "read"     // everything else
)

// Classes returns all classes.
func Classes() []Class { return []Class{Access, Admin, Decision, Write, Read} }

// Entry is an entry of the log.
type Entry struct {
	// Chain is the number of the chain, in hex; Seq counts its entries from 1.
	Chain string `json:"chain"`
	Seq   int64  `json:"seq"`
	// Prev is the hash of the entry before, "" for none.
	Prev string `json:"prev,omitempty"`
	// At is in milliseconds, and never before the time of the previous entry.
	At    time.Time `json:"at"`
	Phase Phase     `json:"phase"`
	// Of is the head of the entry "begun" that an entry "ended" belongs to.
	Of *Head `json:"of,omitempty"`

	Class Class `json:"class"`
	// Principal is the name of the principal: a token's, or "local" for the operator. Credential is the token's id.
	Principal  string `json:"principal,omitempty"`
	Credential string `json:"credential,omitempty"`
	// Address of the caller without its port, "" for a command on the machine of the databases.
	Address   string `json:"address,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	// Action is the method and the pattern of the route. Targets are the things that it is about, by name:
	// "rollup=shops".
	Action  string   `json:"action,omitempty"`
	Targets []string `json:"targets,omitempty"`
	// Outcome is "ok" or the code of an error.
	Outcome string `json:"outcome,omitempty"`

	// Newest is the newest entry of the log when the chain started, nil if there was none.
	Newest *Head `json:"newest,omitempty"`
	// Trimmed are, in an entry "sum", the last entries of chains whose oldest entries were removed because of their
	// age.
	Trimmed []Head `json:"trimmed,omitempty"`
}

// Head identifies an entry and its content.
type Head struct {
	Chain string `json:"chain"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
}

// Hash returns the SHA-256 of an entry's JSON, in hex.
func Hash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// ChainName returns the name of a chain.
func ChainName(chain int64) string { return fmt.Sprintf("%016x", uint64(chain)) }

// Head returns the head that a row is.
func (r Row) Head() Head { return Head{ChainName(r.Chain), r.Seq, Hash(r.Body)} }

// Entry parses a row. The error is about JSON, or about a body whose chain, seq or time differs from the row's.
func (r Row) Entry() (e Entry, err error) {
	if err := json.Unmarshal([]byte(r.Body), &e); err != nil {
		return e, err
	}
	if e.Chain != ChainName(r.Chain) || e.Seq != r.Seq || e.At.UnixMilli() != r.At {
		return e, fmt.Errorf("it says to be entry %d of chain %s at %s", e.Seq, e.Chain, e.At.Format(time.RFC3339))
	}
	return e, nil
}

// ParseRow returns the row of a line that a log was exported as: the JSON of an entry.
func ParseRow(line string) (r Row, err error) {
	var e Entry
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return r, err
	}
	chain, err := strconv.ParseUint(e.Chain, 16, 63)
	if err != nil || ChainName(int64(chain)) != e.Chain {
		return r, fmt.Errorf("%.40q is not the name of a chain", e.Chain)
	}
	return Row{Position{e.At.UnixMilli(), int64(chain), e.Seq}, line}, nil
}

// Chain makes the rows of one chain. It is not safe for concurrent use.
type Chain struct {
	id   int64
	last Row
}

// NewChain returns a chain without entries. id is positive, and random.
func NewChain(id int64) *Chain { return &Chain{id: id} }

// Append returns an entry as the next row of the chain.
func (c *Chain) Append(e Entry, now time.Time) (Row, error) {
	at := max(now.UnixMilli(), c.last.At)
	e.Chain, e.Seq, e.At, e.Prev = ChainName(c.id), c.last.Seq+1, time.UnixMilli(at).UTC(), ""
	if c.last.Seq > 0 {
		e.Prev = Hash(c.last.Body)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return Row{}, err
	}
	c.last = Row{Position{at, c.id, e.Seq}, string(body)}
	return c.last, nil
}

// Last returns the newest row, whose Seq is 0 if there is none.
func (c *Chain) Last() Row { return c.last }
