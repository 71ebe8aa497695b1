// SPDX-License-Identifier: Apache-2.0

package file

import (
	"path/filepath"
	"slices"

	"github.com/locus-db/locus/sink"
)

// fanIn is how many parts of a level are merged into one of the next.
const fanIn = 8

// merge reads parts, which are sorted, and passes the newest line of each ID on, in the order of the IDs.
func merge(dir string, format Format, parts []part, pass func(*line) error) error {
	var open []*partReader
	defer func() {
		for _, r := range open {
			r.close()
		}
	}()
	for _, p := range parts {
		r, err := openPart(filepath.Join(dir, p.Name), format)
		if r != nil {
			open = append(open, r)
		}
		if err != nil {
			return err
		}
	}
	for {
		var first *partReader
		for _, r := range open {
			if r.done {
				continue
			}
			if first == nil {
				first = r
				continue
			}
			if c := r.now.ID.Compare(first.now.ID); c < 0 || c == 0 && r.now.Rev > first.now.Rev {
				first = r
			}
		}
		if first == nil {
			return nil
		}
		newest := first.now
		if err := pass(&newest); err != nil {
			return err
		}
		for _, r := range open {
			if !r.done && r.now.ID == newest.ID {
				if err := r.next(); err != nil {
					return err
				}
			}
		}
	}
}

// rewrite replaces parts by one of a level. Events with a rev below sweep become deletions.
func (s *Sink) rewrite(m *manifest, parts []part, level int, sweep int64) error {
	p := part{Name: partName(m.Token, m.Next, s.format), Level: level}
	w, err := createPart(filepath.Join(s.dir, p.Name), s.format)
	if err != nil {
		return err
	}
	defer w.file.Discard()
	if err := merge(s.dir, s.format, parts, func(l *line) error {
		if l.Rev < sweep {
			l = &line{ID: l.ID, Rev: sweep, Op: sink.Delete}
		}
		return w.write(l)
	}); err != nil {
		return err
	}
	if err := w.close(); err != nil {
		return err
	}
	p.Rows = w.n
	m.Next++
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p part) bool { return slices.Contains(parts, p) })
	if p.Rows > 0 {
		m.Parts = append(m.Parts, p)
	}
	for _, old := range parts {
		m.Former = append(m.Former, former{Name: old.Name, Since: s.now().UTC()})
	}
	return nil
}

// compact merges the parts of each level that has enough of them.
func (s *Sink) compact(m *manifest) error {
	for level := 0; ; level++ {
		var of []part
		higher := false
		for _, p := range m.Parts {
			if higher = higher || p.Level > level; p.Level == level {
				of = append(of, p)
			}
		}
		switch {
		case len(of) >= fanIn:
			if err := s.rewrite(m, of, level+1, 0); err != nil {
				return err
			}
		case !higher:
			return nil
		}
	}
}
