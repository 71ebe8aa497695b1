// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync"
)

// SumColumn is the last column of a table whose rows carry a checksum.
const SumColumn = "sum"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the CRC-32C of the values of a row. Each value is hashed as one byte for its type and eight bytes, big
// endian, for the number or the length of the text or bytes that follow.
// It keeps no value, so that calls need no memory.
func Sum(values ...any) int64 {
	room := sums.Get().(*[]byte) //nolint:forcetypeassert // sums has nothing else
	b := (*room)[:0]
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 1), uint64(v))
		case string:
			b = append(binary.BigEndian.AppendUint64(append(b, 2), uint64(len(v))), v...)
		case []byte:
			b = append(binary.BigEndian.AppendUint64(append(b, 3), uint64(len(v))), v...)
		default:
			panic("cell: sum of another type")
		}
	}
	sum := crc32.Checksum(b, castagnoli)
	if cap(b) <= keptRoom {
		*room = b
		sums.Put(room)
	}
	return int64(sum)
}

// sums holds memory for the values of a row, up to keptRoom bytes each.
var sums = sync.Pool{New: func() any { return new([]byte) }}

const keptRoom = 64 << 10

// Summed reports whether rows of the table carry a checksum.
func (t Table) Summed() bool { return t.Columns[len(t.Columns)-1] == SumColumn }

// SumOf returns the expected checksum of a row: over all columns but those in Apart.
func (t Table) SumOf(row []any) int64 {
	values := make([]any, 0, len(row))
	for i, column := range t.Columns[:len(t.Columns)-1] {
		if !slices.Contains(t.Apart, column) {
			values = append(values, row[i])
		}
	}
	return Sum(values...)
}

// Intact reports whether a row matches its checksum. A row that has lost its checksum does not.
func (t Table) Intact(row []any) bool {
	if !t.Summed() {
		return true
	}
	sum, ok := row[len(row)-1].(int64)
	return ok && sum == t.SumOf(row)
}
