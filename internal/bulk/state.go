// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// stateFormat is the version of the format of state files.
const stateFormat = 3

// State is the progress of an import: all rows before Rows are durable or finally rejected. It is stored in a small
// file next to the imported one until the import is finished.
type State struct {
	Format int `json:"format"`
	// File identifies the file by size, time and first bytes. Job identifies the destination and the options. A state
	// for another file or job is ignored.
	File string `json:"file"`
	Job  string `json:"job"`

	Rows    int64 `json:"rows"`    // rows to skip, including rejected ones
	Rejects int64 `json:"rejects"` // bytes of the file of rejected rows that are valid
	Lines   int64 `json:"lines"`   // lines of the rejected rows
	// Position is the position of the last row of a database, nil if its rows have none.
	Position []string `json:"position,omitempty"`
	// Since is the value of Options.Since from which rows were read, and Next the one for the next import.
	Since string `json:"since,omitempty"`
	Next  string `json:"next,omitempty"`
	// Source and Key identify the last accepted row, so that a resumed import can check that it still exists.
	Source string `json:"source,omitempty"`
	Key    string `json:"key,omitempty"`
	// Counts are the rows by outcome so far.
	Counts map[string]int64 `json:"counts"`
	// Causes are the refused rows by cause so far.
	Causes Causes `json:"causes,omitempty"`
	// Sources are the same by source, of at most MaxSources sources.
	Sources map[string]*Tally `json:"sources,omitempty"`
}

// Tally counts the rows of one source.
type Tally struct {
	Rows   int64            `json:"rows"`
	Counts map[string]int64 `json:"counts"`
	Causes Causes           `json:"causes,omitempty"`
}

// Add counts a row.
func (t *Tally) Add(outcome string) {
	t.Rows++
	t.Counts[outcome]++
}

// MaxSources is the number of sources whose rows are counted by source. The rows of further ones are not.
const MaxSources = 100

// Of returns the counts of a source. Those of a source beyond MaxSources, or without a name, are forgotten.
func (s *State) Of(source string) *Tally {
	if t := s.Sources[source]; t != nil {
		return t
	}
	t := &Tally{Counts: map[string]int64{}, Causes: Causes{}}
	if source == "" || len(s.Sources) == MaxSources {
		return t
	}
	if s.Sources == nil {
		s.Sources = map[string]*Tally{}
	}
	s.Sources[source] = t
	return t
}

// Causes counts refused rows by cause.
type Causes map[string]Cause

// Cause is the number of rows refused for one cause, and the line of the first one.
type Cause struct {
	Rows int64 `json:"rows"`
	Line int64 `json:"first_line"`
}

// Add counts a refused row.
func (c Causes) Add(cause string, line int64) {
	n := c[cause]
	if n.Rows++; n.Rows == 1 || line < n.Line {
		n.Line = line
	}
	c[cause] = n
}

// StateName returns the name of the state file of a file.
func StateName(name string) string {
	return filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".locus-ingest")
}

// Fingerprint identifies the content of a file without reading all of it: by size, modification time and a hash of the
// first 64 KiB.
func Fingerprint(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("take the fingerprint of a file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("take the fingerprint of a file: %w", err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(file, 64<<10)); err != nil {
		return "", fmt.Errorf("take the fingerprint of a file: %w", err)
	}
	return fmt.Sprintf("%d %s %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano), hex.EncodeToString(hash.Sum(nil)[:16])), nil
}

// LoadState returns the state of a file, nil if there is none for this file and job.
func LoadState(name, fingerprint, job string) (*State, error) {
	text, err := os.ReadFile(StateName(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how far the import had come: %w", err)
	}
	var s State
	// Invalid content is not an error, because starting from the beginning is safe.
	if json.Unmarshal(text, &s) != nil || s.Format != stateFormat || s.File != fingerprint || s.Job != job {
		return nil, nil //nolint:nilerr // see above
	}
	return &s, nil
}

// Save writes the state atomically.
func (s *State) Save(name string) error {
	s.Format = stateFormat
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("remember how far the import has come: %w", err)
	}
	target := StateName(name)
	if err := os.WriteFile(target+".new", text, 0o600); err != nil {
		return fmt.Errorf("remember how far the import has come: %w", err)
	}
	if err := os.Rename(target+".new", target); err != nil {
		return fmt.Errorf("remember how far the import has come: %w", err)
	}
	return nil
}

// RemoveState removes the state of a finished import.
func RemoveState(name string) error {
	if err := os.Remove(StateName(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget a finished import: %w", err)
	}
	return nil
}
