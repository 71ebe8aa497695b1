// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// loadRow is a row that a load keeps outside of memory. Rows of a type have the same length.
type loadRow[T any] interface {
	append(b []byte) []byte
	read(b []byte) T
}

// buckets keeps rows in a temporary file, each in one of several buckets. A bucket is read as a whole, in the order in
// which its rows were added. Its methods are safe for concurrent use.
type buckets[T loadRow[T]] struct {
	file  *os.File
	size  int          // bytes of a row
	chunk int          // bytes per write
	end   atomic.Int64 // of the file
	all   []bucket
}

type bucket struct {
	mu     sync.Mutex
	chunks []int64 // where they begin in the file
	free   []int64 // where former ones began
	rest   []byte  // rows that do not fill a chunk
}

// newBuckets creates empty buckets. chunk is the number of bytes of each that stay in memory.
func newBuckets[T loadRow[T]](n, chunk int) (*buckets[T], error) {
	file, err := scratchFile()
	if err != nil {
		return nil, err
	}
	var row T
	size := len(row.append(nil))
	return &buckets[T]{file: file, size: size, chunk: max(chunk/size, 1) * size, all: make([]bucket, n)}, nil
}

// close removes the file. Closing nil or again does nothing.
func (s *buckets[T]) close() {
	if s != nil && s.file != nil {
		removeScratch(s.file)
		s.file = nil
	}
}

// add appends rows to a bucket.
func (s *buckets[T]) add(i int, rows ...T) error {
	b := &s.all[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	return s.append(b, rows)
}

// set replaces the rows of a bucket.
func (s *buckets[T]) set(i int, rows []T) error {
	b := &s.all[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chunks, b.free, b.rest = nil, b.chunks, b.rest[:0]
	return s.append(b, rows)
}

func (s *buckets[T]) append(b *bucket, rows []T) error {
	for _, row := range rows {
		if b.rest = row.append(b.rest); len(b.rest) < s.chunk {
			continue
		}
		var at int64
		if n := len(b.free); n > 0 {
			at, b.free = b.free[n-1], b.free[:n-1]
		} else {
			at = s.end.Add(int64(s.chunk)) - int64(s.chunk)
		}
		if _, err := s.file.WriteAt(b.rest, at); err != nil {
			return fmt.Errorf("keep rows of a load: %w", err)
		}
		b.chunks, b.rest = append(b.chunks, at), b.rest[:0]
	}
	return nil
}

// rows returns the rows of a bucket.
func (s *buckets[T]) rows(i int) ([]T, error) {
	b := &s.all[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	rows := make([]T, 0, (len(b.chunks)*s.chunk+len(b.rest))/s.size)
	read := func(from []byte) {
		var row T
		for ; len(from) > 0; from = from[s.size:] {
			rows = append(rows, row.read(from))
		}
	}
	if len(b.chunks) > 0 {
		chunk := make([]byte, s.chunk)
		for _, at := range b.chunks {
			if _, err := s.file.ReadAt(chunk, at); err != nil {
				return nil, fmt.Errorf("read rows of a load again: %w", err)
			}
			read(chunk)
		}
	}
	read(b.rest)
	return rows, nil
}

// scratchFile creates a temporary file that only its owner can read.
func scratchFile() (*os.File, error) {
	file, err := os.CreateTemp("", "locus-load-*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file of a load: %w", err)
	}
	_ = os.Remove(file.Name()) // where a name must stay until the file is closed, removeScratch removes it
	return file, nil
}

func removeScratch(file *os.File) { _ = errors.Join(file.Close(), os.Remove(file.Name())) }
