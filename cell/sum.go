// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// SumColumn is the last column of a table whose rows carry a checksum.
const SumColumn = "sum"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the CRC-32C of the values of a row. Each value is hashed as one byte for its type and eight bytes, big
// endian, for the number or the length of the text or bytes that follow.
func Sum(values ...any) int64 {
	var head [9]byte
	sum := uint32(0)
	add := func(kind byte, n uint64) {
		head[0] = kind
		binary.BigEndian.PutUint64(head[1:], n)
		sum = crc32.Update(sum, castagnoli, head[:])
	}
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			add(0, 0)
		case int64:
			add(1, uint64(v))
		case string:
			add(2, uint64(len(v)))
			sum = crc32.Update(sum, castagnoli, []byte(v))
		case []byte:
			add(3, uint64(len(v)))
			sum = crc32.Update(sum, castagnoli, v)
		default:
			panic(fmt.Sprintf("cell: sum of a %T", v))
		}
	}
	return int64(sum)
}

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
