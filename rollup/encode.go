// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"encoding/binary"
	"errors"
)

var errBody = errors.New("a row cannot be read: rebuild the rollup")

// encodeGroup encodes the slots in the order of the dimension; nil for no slots.
func encodeGroup(g group) []byte {
	if len(g) == 0 {
		return nil
	}
	b := binary.AppendUvarint(make([]byte, 0, 16*len(g)), uint64(len(g)))
	for _, s := range g {
		b = append(binary.AppendUvarint(b, uint64(len(s.value))), s.value...)
		for _, n := range s.slot {
			b = binary.AppendVarint(b, n)
		}
	}
	return b
}

// decodeGroup decodes the result of encodeGroup.
func decodeGroup(b []byte, width int) (group, error) {
	return (&decoder{width: width}).group(b)
}

// decoder decodes many groups with few allocations.
type decoder struct {
	width   int
	values  map[string]string // interned dimension values
	slots   group             // preallocated, not yet handed out; used if many is set
	grown   int               // the size of the last slots
	numbers slot
	many    bool
}

func newDecoder(width int) *decoder {
	return &decoder{width: width, values: map[string]string{}, many: true}
}

// room returns space for a group of n slots.
func (d *decoder) room(n int) (g group, numbers slot) {
	if !d.many {
		return make(group, n), make(slot, n*d.width)
	}
	if len(d.slots) < n {
		size := more(&d.grown, n, 1024)
		d.slots, d.numbers = make(group, size), make(slot, size*d.width)
	}
	g, numbers = d.slots[:n:n], d.numbers[:n*d.width:n*d.width]
	d.slots, d.numbers = d.slots[n:], d.numbers[n*d.width:]
	return g, numbers
}

func (d *decoder) group(b []byte) (group, error) {
	if len(b) == 0 {
		return nil, nil
	}
	slots, n := binary.Uvarint(b)
	if n <= 0 || slots > uint64(len(b)) {
		return nil, errBody
	}
	b = b[n:]
	g, numbers := d.room(int(slots))
	for k := range g {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, errBody
		}
		g[k] = dimensioned{d.value(b[n : n+int(size)]), numbers[k*d.width : (k+1)*d.width : (k+1)*d.width]}
		b = b[n+int(size):]
		for i := range g[k].slot {
			value, n := binary.Varint(b)
			if n <= 0 {
				return nil, errBody
			}
			g[k].slot[i], b = value, b[n:]
		}
		if k > 0 && g[k-1].value >= g[k].value {
			return nil, errBody
		}
	}
	if len(b) > 0 {
		return nil, errBody
	}
	return g, nil
}

func (d *decoder) value(b []byte) string {
	if value, ok := d.values[string(b)]; ok {
		return value
	}
	value := string(b)
	if d.values != nil {
		d.values[value] = value
	}
	return value
}

func decodeCount(b []byte) (int64, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, size := binary.Uvarint(b)
	if size != len(b) || int64(n) <= 0 {
		return 0, errBody
	}
	return int64(n), nil
}
