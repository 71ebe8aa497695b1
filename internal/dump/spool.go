// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// section is the lines of one type, compressed in a temporary file: several cells write it at once, and a slow reader
// of the dump keeps no snapshot open.
type section struct {
	mu   sync.Mutex
	file *os.File
	z    *zstd.Encoder
	n    int64 // lines
}

func newSection() (*section, error) {
	f, err := os.CreateTemp("", "locus-dump-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &section{file: f, z: z}, nil
}

// add appends lines.
func (s *section) add(lines *lines) error {
	if lines.n == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.z.Write(lines.Bytes()); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	s.n += lines.n
	lines.Reset()
	lines.n = 0
	return nil
}

// copyTo writes the compressed lines to w.
func (s *section) copyTo(w io.Writer) error {
	if err := s.z.Close(); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read a temporary file: %w", err)
	}
	if s.n == 0 {
		return nil
	}
	_, err := io.Copy(w, s.file)
	return err
}

func (s *section) remove() { _, _, _ = s.z.Close(), s.file.Close(), os.Remove(s.file.Name()) }

// lines is a buffer of lines.
type lines struct {
	bytes.Buffer
	n int64
}

// put appends a line.
func (l *lines) put(value any) error {
	e := json.NewEncoder(&l.Buffer)
	e.SetEscapeHTML(false)
	l.n++
	return e.Encode(value)
}
