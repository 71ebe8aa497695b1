// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
)

// spill keeps rows in a temporary file, by number: the records of a load, which are read from it in a seventh of the
// time that reading their cells again takes, or the fields that comparisons need.
type spill struct {
	file *os.File
	w    *bufio.Writer
	end  int64
	ends offsets // the end of each row, after the beginning of the first one
}

// offsets are offsets in a file that ascend, in four bytes each.
type offsets struct {
	low   []uint32
	wraps []int // the first offset of each further 4 GiB
}

func (o *offsets) add(at int64) {
	for int64(len(o.wraps)) < at>>32 {
		o.wraps = append(o.wraps, len(o.low))
	}
	o.low = append(o.low, uint32(at)) //nolint:gosec // the upper half is in wraps
}

func (o *offsets) at(i int) int64 {
	high := 0
	for high < len(o.wraps) && o.wraps[high] <= i {
		high++
	}
	return int64(high)<<32 | int64(o.low[i])
}

func newSpill() (*spill, error) {
	file, err := scratchFile()
	if err != nil {
		return nil, err
	}
	s := &spill{file: file, w: bufio.NewWriterSize(file, 1<<20)}
	s.ends.add(0)
	return s, nil
}

func (s *spill) close() {
	if s != nil {
		removeScratch(s.file)
	}
}

// spillRows are rows to be added to a spill, one after the other.
type spillRows struct {
	b    []byte
	ends []int // of each row
}

func (r *spillRows) reset() { r.b, r.ends = r.b[:0], r.ends[:0] }

// end ends a row.
func (r *spillRows) end() { r.ends = append(r.ends, len(r.b)) }

// add appends rows; flush must follow before any is read.
func (s *spill) add(rows *spillRows) error {
	for _, end := range rows.ends {
		s.ends.add(s.end + int64(end))
	}
	s.end += int64(len(rows.b))
	if _, err := s.w.Write(rows.b); err != nil {
		return fmt.Errorf("keep records for a load: %w", err)
	}
	return nil
}

func (s *spill) flush() error { return s.w.Flush() }

// spillRead is how many bytes of the file are read at once if they contain several of the rows.
const spillRead = 16 << 10

// rows reads rows by number, in ascending order, and calls fn with the index of each and its content, which is valid
// during the call. It is safe for concurrent use.
func (s *spill) rows(numbers []uint32, fn func(i int, row []byte)) error {
	var b []byte
	for from := 0; from < len(numbers); {
		begin, end, to := s.ends.at(int(numbers[from])), s.ends.at(int(numbers[from])+1), from+1
		for to < len(numbers) && s.ends.at(int(numbers[to])+1)-begin <= spillRead {
			end, to = s.ends.at(int(numbers[to])+1), to+1
		}
		b = slices.Grow(b[:0], int(end-begin))[:end-begin]
		if _, err := s.file.ReadAt(b, begin); err != nil {
			return fmt.Errorf("read records of a load again: %w", err)
		}
		for ; from < to; from++ {
			i := int(numbers[from])
			fn(from, b[s.ends.at(i)-begin:s.ends.at(i+1)-begin])
		}
	}
	return nil
}

// parts is rows for several parts at a time.
func (s *spill) parts(numbers []uint32, fn func(i int, row []byte)) error {
	const atOnce = 64
	errs := make([]error, len(numbers)/atOnce+1)
	parallel(len(errs), func(part int) {
		from, to := part*atOnce, min((part+1)*atOnce, len(numbers))
		errs[part] = s.rows(numbers[from:to], func(i int, row []byte) { fn(from+i, row) })
	})
	return errors.Join(errs...)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendRecord(b []byte, rec *entity.Record) []byte {
	b = append(b, rec.Birth[:]...)
	for _, n := range [...]int64{int64(rec.PUID), int64(rec.Anchor), rec.Version, rec.Observed.UnixMilli(), int64(len(rec.Attributes))} {
		b = binary.AppendVarint(b, n)
	}
	for _, text := range [...]string{rec.Source, rec.Key, rec.Kind} {
		b = appendText(b, text)
	}
	for name, values := range rec.Attributes {
		b = binary.AppendUvarint(appendText(b, name), uint64(len(values)))
		for _, value := range values {
			b = appendText(b, value)
		}
	}
	return b
}

// spilled reads what appendRecord has written. All texts of a record are slices of one string.
type spilled struct {
	b    []byte
	text string
}

func readSpilled(b []byte) *entity.Record {
	s := &spilled{b, string(b)}
	rec := &entity.Record{}
	s.skip(copy(rec.Birth[:], s.b))
	rec.PUID, rec.Anchor, rec.Version = entity.PUID(s.number()), entity.PUID(s.number()), s.number()
	rec.Observed = time.UnixMilli(s.number()).UTC()
	attributes := int(s.number())
	rec.Source, rec.Key, rec.Kind = s.string(), s.string(), s.string()
	rec.Attributes = make(entity.Attributes, attributes)
	single := make([]string, attributes) // most attributes have one value
	for n := range attributes {
		name, values := s.string(), single[n:n+1:n+1]
		if length := s.length(); length != 1 {
			values = make([]string, length)
		}
		for i := range values {
			values[i] = s.string()
		}
		rec.Attributes[name] = values
	}
	return rec
}

func (s *spilled) skip(n int) { s.b, s.text = s.b[n:], s.text[n:] }

func (s *spilled) number() int64 {
	n, size := binary.Varint(s.b)
	s.skip(size)
	return n
}

func (s *spilled) length() int {
	n, size := binary.Uvarint(s.b)
	s.skip(size)
	return int(n) //nolint:gosec // written by appendRecord
}

func (s *spilled) string() string {
	n := s.length()
	text := s.text[:n]
	s.skip(n)
	return text
}
