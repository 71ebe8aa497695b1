// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/locus-db/locus/sink"
)

// ChangeSink is the target of changes in a directory: a file of JSON lines for each cell and day, which is only
// appended to.
type ChangeSink struct {
	dir string

	mu    sync.Mutex
	cells map[string]*trail // by the name of the cell
}

// trail is the newest file of a cell.
type trail struct {
	mu   sync.Mutex
	name string
	last int64 // seq of the last change, -1 without one
}

var _ sink.ChangeSink = (*ChangeSink)(nil)

// trailName is the form of the name of a file of changes.
var trailName = regexp.MustCompile(`^changes-(g\d+-\d+)-\d{4}-\d{2}-\d{2}\.jsonl$`)

// checkChanges returns why a URL cannot be a target of changes.
func checkChanges(u *url.URL) error {
	if _, format, err := parse(u); err == nil && format != JSONL {
		return errors.New("file: changes are written as JSON lines: leave out the format")
	}
	return nil
}

// OpenChanges returns the target of a directory, which is created if it is missing. The error wraps sink.ErrStop if it
// has files of another program.
func OpenChanges(_ context.Context, dir string) (*ChangeSink, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("file: create the directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("file: list %s: %w", dir, err)
	}
	s := &ChangeSink{dir: dir, cells: map[string]*trail{}}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			continue
		}
		of := trailName.FindStringSubmatch(e.Name())
		if of == nil {
			return nil, fmt.Errorf("%w: %s has files that are no changes, such as %.60q: give the sink a directory of its own", sink.ErrStop, dir, e.Name())
		}
		t := s.trail(of[1])
		last, err := s.mend(e.Name())
		if err != nil {
			return nil, fmt.Errorf("file: read the end of %s: %w", e.Name(), err)
		}
		t.name, t.last = e.Name(), max(t.last, last)
	}
	return s, nil
}

// mend cuts off a line that a killed process has not finished, and returns the seq of the last whole one.
func (s *ChangeSink) mend(name string) (last int64, err error) {
	file, err := os.OpenFile(filepath.Join(s.dir, name), os.O_RDWR, 0)
	if err != nil {
		return -1, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return -1, err
	}
	var tail []byte
	for length := int64(64 << 10); ; length *= 4 { // a line may be long
		length = min(length, size)
		tail = make([]byte, length)
		if _, err := file.ReadAt(tail, size-length); err != nil {
			return -1, err
		}
		whole := bytes.LastIndexByte(tail, '\n')
		if whole < 0 && length < size {
			continue
		}
		before := bytes.LastIndexByte(tail[:max(whole, 0)], '\n')
		if before < 0 && length < size {
			continue
		}
		if end := size - length + int64(whole) + 1; end < size {
			if err := file.Truncate(end); err != nil {
				return -1, err
			}
		}
		if whole < 0 {
			return -1, nil
		}
		var c sink.Change
		if err := json.Unmarshal(tail[before+1:whole], &c); err != nil {
			return -1, fmt.Errorf("%w: its last line is no change: %w", sink.ErrStop, err)
		}
		return int64(c.Seq), nil
	}
}

func (s *ChangeSink) trail(id string) *trail {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cells[id] == nil {
		s.cells[id] = &trail{last: -1}
	}
	return s.cells[id]
}

// DeliverChanges implements sink.ChangeSink. A change is written to the file of its day, or to the last file if that is
// later: times may go back, but the files in the order of their names must have the changes in order.
func (s *ChangeSink) DeliverChanges(_ context.Context, changes []sink.Change) (delivered int, err error) {
	t := s.trail(changes[0].Cell.String())
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	flush := func(name string, last int64) error {
		if lines.Len() == 0 {
			return nil
		}
		if err := s.add(name, lines.Bytes()); err != nil {
			return err
		}
		lines.Reset()
		t.name, t.last = name, last
		return nil
	}
	name, last := t.name, t.last
	written := 0
	for i := range changes {
		c := &changes[i]
		if int64(c.Seq) <= last {
			continue
		}
		if of := "changes-" + c.Cell.String() + "-" + c.Time.UTC().Format(time.DateOnly) + ".jsonl"; of > name {
			if err := flush(name, last); err != nil {
				return written, err
			}
			written, name = i, of
		}
		if err := encoder.Encode(c); err != nil {
			return written, err
		}
		last = int64(c.Seq)
	}
	if err := flush(name, last); err != nil {
		return written, err
	}
	return len(changes), nil
}

// add appends lines to a file durably. A part of lines that could not be written is cut off.
func (s *ChangeSink) add(name string, lines []byte) (err error) {
	path := filepath.Join(s.dir, name)
	_, err = os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644) //nolint:gosec // others read it
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	if _, err = file.Write(lines); err == nil {
		err = file.Sync()
	}
	if err != nil {
		return fmt.Errorf("file: write changes: %w", errors.Join(err, file.Truncate(size)))
	}
	if isNew {
		return syncDir(s.dir)
	}
	return nil
}

// Close implements sink.ChangeSink.
func (s *ChangeSink) Close() error { return nil }
