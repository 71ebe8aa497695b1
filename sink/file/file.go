// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/locus-db/locus/sink"
)

// keepFormer is how long a part stays after it was merged: readers may have the manifest that lists it.
const keepFormer = 10 * time.Minute

// Sink is the sink of a directory. It stores positions.
type Sink struct {
	dir      string
	format   Format
	now      func() time.Time
	manifest manifest // as it was read or written last
	claimed  bool     // strays were removed
}

var _ sink.Sink = (*Sink)(nil)

// Open returns the sink of a directory, which is created if it is missing. The error wraps sink.ErrStop if it has files
// of another program, or parts of another format.
func Open(_ context.Context, dir string, format Format) (*Sink, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("file: create the directory: %w", err)
	}
	s := &Sink{dir: dir, format: format, now: time.Now}
	m, err := readManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("file: list %s: %w", dir, err)
		}
		if i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.Name()[0] != '.' }); i >= 0 {
			return nil, fmt.Errorf("%w: %s has files, such as %.60q, and no manifest of a sink: give the sink a directory of its own", sink.ErrStop, dir, entries[i].Name())
		}
		return s, nil
	case err != nil:
		return nil, err
	case m.Format != format:
		return nil, fmt.Errorf("%w: %s has parts of the format %s: give the sink another directory", sink.ErrStop,
			dir, m.Format)
	}
	s.manifest = m
	return s, nil
}

// Position implements sink.Sink.
func (s *Sink) Position(context.Context) (sink.Position, error) { return s.manifest.Position, nil }

// Close implements sink.Sink.
func (s *Sink) Close() error { return nil }

// Deliver implements sink.Sink.
func (s *Sink) Deliver(_ context.Context, b sink.Batch) error {
	token, err := newest(s.dir)
	if err != nil {
		return err
	}
	if token > b.Token {
		return fmt.Errorf("%w: %s has the manifest of one above %d", sink.ErrFenced, s.dir, b.Token)
	}
	m := s.manifest
	m.Format, m.Parts, m.Former = s.format, slices.Clone(m.Parts), slices.Clone(m.Former)
	if m.Token != b.Token {
		m.Token, s.claimed = b.Token, false
	}
	if m.Parts == nil {
		m.Parts = []part{}
	}
	if !s.claimed {
		if err := m.write(s.dir); err != nil { // refuses the former owner from here on
			return err
		}
		if err := m.removeStrays(s.dir); err != nil {
			return fmt.Errorf("file: remove the files of former owners: %w", err)
		}
		s.manifest, s.claimed = m, true
	}
	if err := s.add(&m, b.Events); err != nil {
		return err
	}
	if b.Sweep != 0 && len(m.Parts) > 0 {
		if err := s.rewrite(&m, m.Parts, s.top(&m), b.Sweep); err != nil {
			return err
		}
	}
	if err := s.compact(&m); err != nil {
		return err
	}
	if b.Position != nil {
		m.Position = *b.Position
	}
	if err := m.removeFormer(s.dir, s.now().Add(-keepFormer)); err != nil {
		return fmt.Errorf("file: remove parts that were merged: %w", err)
	}
	s.manifest.Next = m.Next // the manifest may be there although its error says no: names are not used again
	if err := m.write(s.dir); err != nil {
		return fmt.Errorf("file: write the manifest: %w", err)
	}
	s.manifest = m
	return nil
}

// top is the highest level of a part.
func (s *Sink) top(m *manifest) (level int) {
	for _, p := range m.Parts {
		level = max(level, p.Level)
	}
	return level
}

// add writes events as a part.
func (s *Sink) add(m *manifest, events []sink.Event) error {
	if len(events) == 0 {
		return nil
	}
	sorted := slices.Clone(events)
	slices.SortFunc(sorted, func(a, b sink.Event) int { return a.ID.Compare(b.ID) })
	p := part{Name: partName(m.Token, m.Next, s.format), Rows: int64(len(events))}
	w, err := createPart(filepath.Join(s.dir, p.Name), s.format)
	if err != nil {
		return err
	}
	defer w.file.Discard()
	for i := range sorted {
		l, err := lineOf(&sorted[i])
		if err == nil {
			err = w.write(&l)
		}
		if err != nil {
			return fmt.Errorf("file: write %d events: %w", len(events), err)
		}
	}
	if err := w.close(); err != nil {
		return err
	}
	m.Next++
	m.Parts = append(m.Parts, p)
	return nil
}
