// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// The body of a compacted day:
//
//	4 bytes   CRC-32C of all that follows, and of the key, the total and the detail beside it
//	1 byte    format
//	5 varints of a gauge: the reading of the day
//	the rest  columns of 1440 minutes or of 96 quarters; none if only the day is kept
//
// A counter without details has no body.
const (
	packedCounter = 1 // its values
	packedGauge   = 2 // count, min, max - min, sum - count·min, last - min
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// length returns the number of minutes, quarters or days in a compacted day.
func (d Detail) length() int {
	switch d {
	case Minutes:
		return dayMinutes
	case Quarters:
		return 96
	default:
		return 1
	}
}

// encodeDay builds a compacted day from its minutes, its quarters or its total. The error is ErrOverflow.
func encodeDay(key BucketKey, kind Kind, detail Detail, values []int64) (CompactedDay, error) {
	c := CompactedDay{Key: key, Detail: detail}
	if kind == Gauge {
		return encodeGaugeDay(c, values)
	}
	for _, v := range values {
		if plus(&c.N, v, nil) != nil {
			return c, ErrOverflow
		}
	}
	if detail != NoDetail {
		c.Body = encode([]byte{0, 0, 0, 0, packedCounter}, values)
		c.seal()
	}
	return c, nil
}

func encodeGaugeDay(c CompactedDay, values []int64) (CompactedDay, error) {
	var day reading
	if day.fold(values) != nil {
		return c, ErrOverflow
	}
	c.Body = []byte{0, 0, 0, 0, packedGauge}
	for _, v := range day {
		c.Body = binary.AppendVarint(c.Body, v)
	}
	if c.Detail != NoDetail {
		n := c.Detail.length()
		columns := make([]int64, Reading*n)
		var least int64 // carried over where nothing was read, which compresses well
		for i := range n {
			r := values[i*Reading : (i+1)*Reading]
			if r[ReadingCount] != 0 {
				least = r[ReadingMin]
				columns[i] = r[ReadingCount]
				columns[2*n+i] = r[ReadingMax] - least
				columns[3*n+i] = r[ReadingSum] - r[ReadingCount]*least
				columns[4*n+i] = r[ReadingLast] - least
			}
			columns[n+i] = least
		}
		for ; len(columns) > 0; columns = columns[n:] {
			c.Body = encode(c.Body, columns[:n])
		}
	}
	c.seal()
	return c, nil
}

func (c *CompactedDay) check() uint32 {
	var beside [17]byte
	binary.BigEndian.PutUint64(beside[:], uint64(c.Key))
	binary.BigEndian.PutUint64(beside[8:], uint64(c.N))
	beside[16] = byte(c.Detail)
	return crc32.Update(crc32.Checksum(beside[:], castagnoli), castagnoli, c.Body[4:])
}

func (c *CompactedDay) seal() { binary.BigEndian.PutUint32(c.Body, c.check()) }

// At returns the day as it is stored under another key, such as that of the same metric in another cell. The error is
// ErrDamaged.
func (c CompactedDay) At(key BucketKey) (CompactedDay, error) {
	if len(c.Body) == 0 { // a counter without details
		c.Key = key
		return c, nil
	}
	if len(c.Body) < 5 || binary.BigEndian.Uint32(c.Body) != c.check() {
		return c, c.damaged()
	}
	c.Key, c.Body = key, slices.Clone(c.Body)
	c.seal()
	return c, nil
}

// open verifies the checksum and format, and returns the body after the format byte.
func (c *CompactedDay) open(format byte) ([]byte, error) {
	if len(c.Body) < 5 || c.Body[4] != format || binary.BigEndian.Uint32(c.Body) != c.check() {
		return nil, c.damaged()
	}
	return c.Body[5:], nil
}

func (c *CompactedDay) damaged() error {
	return fmt.Errorf("%w: day %d of metric %d", ErrDamaged, c.Key.Unit(), c.Key.ID())
}

// decodeDay returns the minutes or quarters of a compacted day, or the day itself if it has no details. A damaged
// day is an error; the values must add up to the stored total.
func decodeDay(c *CompactedDay, kind Kind) ([]int64, error) {
	if kind == Gauge {
		return decodeGaugeDay(c)
	}
	if c.Detail == NoDetail {
		return []int64{c.N}, nil
	}
	body, err := c.open(packedCounter)
	if err != nil {
		return nil, err
	}
	values, rest, ok := decode(body, c.Detail.length())
	if !ok || len(rest) > 0 {
		return nil, c.damaged()
	}
	var sum int64
	for _, v := range values {
		if v < 0 || plus(&sum, v, nil) != nil {
			return nil, c.damaged()
		}
	}
	if sum != c.N {
		return nil, c.damaged()
	}
	return values, nil
}

// dayReading returns the reading of a gauge's compacted day without unpacking it.
func dayReading(c *CompactedDay) (reading, error) {
	day, _, err := c.header()
	return day, err
}

func (c *CompactedDay) header() (day reading, rest []byte, err error) {
	if rest, err = c.open(packedGauge); err != nil {
		return day, nil, err
	}
	for i := range day {
		v, n := binary.Varint(rest)
		if n <= 0 {
			return day, nil, c.damaged()
		}
		day[i], rest = v, rest[n:]
	}
	return day, rest, nil
}

func decodeGaugeDay(c *CompactedDay) ([]int64, error) {
	day, rest, err := c.header()
	if err != nil || c.Detail == NoDetail {
		return day[:], err
	}
	var columns [Reading][]int64
	n := c.Detail.length()
	for i := range columns {
		var ok bool
		if columns[i], rest, ok = decode(rest, n); !ok {
			return nil, c.damaged()
		}
	}
	values := make([]int64, Reading*n)
	for i := range n {
		count, least := columns[0][i], columns[1][i]
		if count == 0 {
			continue
		}
		r := values[i*Reading : (i+1)*Reading]
		r[ReadingMin], r[ReadingMax] = least, least+columns[2][i]
		r[ReadingSum], r[ReadingCount] = columns[3][i]+count*least, count
		r[ReadingLast] = least + columns[4][i]
		if count < 0 || r[ReadingMax] < least || r[ReadingLast] < least || r[ReadingLast] > r[ReadingMax] {
			return nil, c.damaged()
		}
	}
	var sum reading
	if len(rest) > 0 || sum.fold(values) != nil || sum != day {
		return nil, c.damaged()
	}
	return values, nil
}
