// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// Sorter sorts lines by their keys, in bounded memory: lines that do not fit are written to temporary files as sorted
// runs, which are merged at the end. Lines of equal keys keep the order that they were added in.
type Sorter struct {
	// Dir is the directory of the temporary files. Defaults to the system's.
	Dir string
	// Memory is how many bytes of keys and lines are kept in memory. Defaults to 64 MiB.
	Memory int

	items []item
	data  []byte
	runs  []*os.File
}

// item is a line in data, after its key.
type item struct{ start, line, end int }

func (s *Sorter) key(i item) []byte { return s.data[i.start:i.line] }

// Add adds a line, which has no line end.
func (s *Sorter) Add(key, line []byte) error {
	if len(s.data)+len(key)+len(line) > cmp.Or(s.Memory, 64<<20) && len(s.items) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	start := len(s.data)
	s.data = append(append(s.data, key...), line...)
	s.items = append(s.items, item{start, start + len(key), len(s.data)})
	return nil
}

func (s *Sorter) sort() {
	slices.SortStableFunc(s.items, func(a, b item) int { return bytes.Compare(s.key(a), s.key(b)) })
}

// spill writes the lines in memory as a run.
func (s *Sorter) spill() error {
	s.sort()
	f, err := os.CreateTemp(s.Dir, "locus-sort-*")
	if err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	s.runs = append(s.runs, f)
	w := bufio.NewWriterSize(f, 256<<10)
	var head [2 * binary.MaxVarintLen64]byte
	for _, i := range s.items {
		n := binary.PutUvarint(head[:], uint64(i.line-i.start))
		n += binary.PutUvarint(head[n:], uint64(i.end-i.line))
		_, _ = w.Write(head[:n]) // Flush returns the first error
		_, _ = w.Write(s.data[i.start:i.end])
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	s.items, s.data = s.items[:0], s.data[:0]
	return nil
}

// source is a run while it is merged.
type source struct {
	r         *bufio.Reader
	key, line []byte
	ended     bool
}

func (r *source) next() error {
	nk, err := binary.ReadUvarint(r.r)
	if errors.Is(err, io.EOF) {
		r.ended = true
		return nil
	}
	nl, err2 := binary.ReadUvarint(r.r)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	both := slices.Grow(r.key[:0], int(nk+nl))[:nk+nl] //nolint:gosec // this process wrote them
	if _, err := io.ReadFull(r.r, both); err != nil {
		return err
	}
	r.key, r.line = both[:nk:nk], both[nk:]
	return nil
}

// All returns the lines in order, each valid until the next one. It can be iterated once, and ends the adding.
func (s *Sorter) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s.sort()
		var sources []*source
		for _, f := range s.runs {
			_, err := f.Seek(0, io.SeekStart)
			r := &source{r: bufio.NewReaderSize(f, 256<<10)}
			if err = errors.Join(err, r.next()); err != nil {
				yield(nil, fmt.Errorf("sort: %w", err))
				return
			}
			sources = append(sources, r)
		}
		for at := 0; ; {
			var first *source // the earliest run wins among equal keys; the lines in memory are the latest
			for _, r := range sources {
				if !r.ended && (first == nil || bytes.Compare(r.key, first.key) < 0) {
					first = r
				}
			}
			if at < len(s.items) && (first == nil || bytes.Compare(s.key(s.items[at]), first.key) < 0) {
				i := s.items[at]
				at++
				if !yield(s.data[i.line:i.end], nil) {
					return
				}
				continue
			}
			if first == nil {
				return
			}
			if !yield(first.line, nil) {
				return
			}
			if err := first.next(); err != nil {
				yield(nil, fmt.Errorf("sort: %w", err))
				return
			}
		}
	}
}

// Close removes the temporary files.
func (s *Sorter) Close() error {
	var errs []error
	for _, f := range s.runs {
		errs = append(errs, f.Close(), os.Remove(f.Name()))
	}
	s.runs = nil
	return errors.Join(errs...)
}
