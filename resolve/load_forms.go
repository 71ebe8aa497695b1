// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"

	"github.com/locus-db/locus/match"
)

// compared is the part of a record that comparisons need.
type compared struct {
	kind *Kind
	norm *match.Record
}

// keep stores a record in the spill and, if it is normalised, the fields that comparisons need.
func (l *loader) keep(n *node) error {
	l.buf = appendRecord(l.buf[:0], n.Record)
	if err := l.spill.add(l.buf); err != nil {
		return err
	}
	if l.buf = l.buf[:0]; n.norm != nil {
		l.buf = appendText(l.buf, n.Kind)
		kind := len(l.buf)
		if l.buf = n.norm.AppendCompared(l.buf); len(l.buf) == kind {
			l.buf = l.buf[:0]
		}
	}
	return l.forms.add(l.buf)
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
