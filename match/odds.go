// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"slices"
)

// The odds that two persons are one before anything is compared (Fellegi and Sunter 1969) fall with the number of records
// and rise with the number of duplicates of each: among ten times as many records each has ten times as many namesakes.
// The weights of persons hold for usualRecords records with one counted duplicate each. Below these odds the difference is
// the prior of every pair. The records and the duplicates are counted with the term frequencies, and both in a sample,
// because their ratio does not depend on its size. A table from before matcher 18 has no such counts.

const (
	usualRecords = 50_000
	// leastDuplicates is the number of counted duplicates of a record that is assumed at least: those in a source that is
	// not loaded yet are missing. mostOdds limits the prior, in hundredths of a bit.
	leastDuplicates = 0.1
	mostOdds        = 500
)

// oddsCounted is the hash under which a table has how far the odds are below those of the weights, in hundredths of a bit.
var oddsCounted = textHash("\x00odds")

// namesakes are hashes of a full name and another value of each record: a date of birth, a phone number or a mailbox.
// Records with one hash are duplicates: not all of them, because many have a mistake in one of the two.
type namesakes [3][]uint64

func (n *namesakes) add(r *Record) {
	for _, d := range r.dates {
		if d.date.day != 0 {
			whole, _ := d.days()
			n.put(0, r, whole)
		}
	}
	for i := range r.phones {
		n.put(1, r, r.phones[i].number())
	}
	for _, e := range r.emails {
		n.put(2, r, boxHash(e))
	}
}

func (n *namesakes) put(kind int, r *Record, value uint64) {
	n[kind] = append(n[kind], r.name.hash*daySalt^value)
}

// duplicates returns how many other records have the hash of a record, on average: the highest average of the three kinds
// of values.
func (n *namesakes) duplicates() (most float64) {
	for _, values := range n {
		if len(values) < fewCounted {
			continue
		}
		slices.Sort(values)
		pairs, run := 0, 0
		for i, v := range values {
			if i > 0 && v != values[i-1] {
				run = 0
			}
			pairs += run
			run++
		}
		most = max(most, 2*float64(pairs)/float64(len(values)))
	}
	return most
}

// addOdds adds to the table how far the odds are below those of the weights, if they are.
func (p *TermFrequencies) addOdds(n *namesakes) {
	bits := math.Log2(float64(p.records) / usualRecords / max(n.duplicates(), leastDuplicates))
	if below := math.Round(100 * bits); below > 1 {
		p.tokens[oddsCounted] = uint32(min(below, mostOdds))
	}
}

// odds returns the prior of every pair: that of the kind if it has one, otherwise that of the table for persons.
func (m *Matcher) odds() Weight {
	if m.schema.Prior != 0 || m.style != StylePerson {
		return m.schema.Prior
	}
	return -Weight(m.terms.tokens[oddsCounted])
}

// Prior returns the weight of a pair before its fields are compared, from -60 to 0 bits: that of the kind, or that of the
// number of records for a kind of persons without one.
func (m *Matcher) Prior() Weight { return m.prior }
