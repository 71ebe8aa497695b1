// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"errors"

	"github.com/locus-db/locus/match"
)

// compared is the part of a record that comparisons need.
type compared struct {
	kind *Kind
	norm *match.Record
}

// loadPiece is some records as the spills store them.
type loadPiece struct {
	records, forms spillRows
}

func (p *loadPiece) reset() {
	p.records.reset()
	p.forms.reset()
}

// add encodes a record and, if it is normalised, the fields that comparisons need.
func (p *loadPiece) add(n *node) {
	p.records.b = appendRecord(p.records.b, n.Record)
	p.records.end()
	if n.norm != nil {
		begin := len(p.forms.b)
		p.forms.b = appendText(p.forms.b, n.Kind)
		kind := len(p.forms.b)
		if p.forms.b = n.norm.AppendCompared(p.forms.b); len(p.forms.b) == kind {
			p.forms.b = p.forms.b[:begin]
		}
	}
	p.forms.end()
}

// keep stores records in the spills.
func (l *loader) keep(p *loadPiece) error {
	return cmp.Or(l.spill.add(&p.records), l.forms.add(&p.forms))
}

func (l *loader) flush() error { return errors.Join(l.spill.flush(), l.forms.flush()) }

// compared returns the fields that comparisons need, for records by number in ascending order, without those deleted
// since, and which numbers these are. The results are valid until the next call.
func (l *loader) compared(numbers []uint32) (read []uint32, found []compared, err error) {
	read, slots := l.slots(numbers)
	for len(l.norms) < len(read) {
		l.norms = append(l.norms, &match.Record{})
	}
	found = make([]compared, len(read))
	if err := l.forms.parts(slots, func(i int, row []byte) {
		if len(row) == 0 {
			return
		}
		s := &spilled{row, string(row)}
		found[i] = compared{l.Rules().Kind(s.string()), l.norms[i]}
		found[i].kind.Matcher.ReadCompared(s.text, l.norms[i])
	}); err != nil {
		return nil, nil, err
	}
	var rest, places []uint32 // records whose kind does not store compared fields, or that were not normalised before
	for i := range found {
		if found[i].norm == nil {
			rest, places = append(rest, slots[i]), append(places, uint32(i)) //nolint:gosec // there are fewer
		}
	}
	nodes, err := l.decode(rest, true)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range nodes {
		found[places[i]] = compared{n.kind, n.norm}
	}
	return read, found, nil
}
