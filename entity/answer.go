// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Answer is the answer of a person about a pair.
type Answer struct {
	Verdict Verdict   `json:"verdict"`
	Author  string    `json:"author,omitempty"`
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
	Batch   string    `json:"batch,omitempty"`
	Settles bool      `json:"settles,omitempty"`
}

// Answers are answers to one pair, oldest first. It is JSON as text, so that decisions can be compared.
type Answers string

// answersOf returns answers as Decision.Earlier has them: the newest maxEarlier.
func answersOf(list []Answer) (Answers, error) {
	if len(list) == 0 {
		return "", nil
	}
	text, err := json.Marshal(list[max(0, len(list)-maxEarlier):])
	return Answers(text), err
}

// List returns the answers; nil for an invalid text.
func (a Answers) List() (list []Answer) {
	if a == "" || json.Unmarshal([]byte(a), &list) != nil {
		return nil
	}
	return list
}

// MarshalJSON writes the answers as an array.
func (a Answers) MarshalJSON() ([]byte, error) {
	if a == "" {
		return []byte("[]"), nil
	}
	return []byte(a), nil
}

// UnmarshalJSON reads an array of answers.
func (a *Answers) UnmarshalJSON(text []byte) error {
	var list []Answer
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		*a = ""
		return err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return err
	}
	*a = Answers(b.String())
	return nil
}

// Answer returns the answer of the newest author.
func (d *Decision) Answer() Answer {
	return Answer{d.Verdict, d.Author, d.By, d.At, d.Batch, d.Settles}
}

// Answers returns all answers to a pair that are known, oldest first and the newest one last. An answer that settles a
// disagreement is not among them, and neither is a withdrawn one.
func (d *Decision) Answers() []Answer {
	all := d.Earlier.List()
	if !d.Withdrawn {
		all = append(all, d.Answer())
	}
	return slices.DeleteFunc(all, func(a Answer) bool { return a.Settles })
}

// Replacing returns the Earlier of the decision by which author replaces or withdraws d. A person has one answer, so
// the author's previous one is left out, unless the new decision settles a disagreement, which is not an answer.
func (d *Decision) Replacing(author string, settles, withdraw bool) (Answers, error) {
	list := d.Earlier.List()
	if !d.Withdrawn && !withdraw {
		list = append(list, d.Answer())
	}
	if !settles {
		list = slices.DeleteFunc(list, func(a Answer) bool { return a.Author == author && !a.Settles })
	}
	return answersOf(list)
}
