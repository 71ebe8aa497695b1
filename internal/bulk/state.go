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

// stateFormat is the number of the format of a state file.
const stateFormat = 2

// State is how far an import has come: all rows before Rows are durable or refused for good. It
// stands in a small file beside the imported one, and only while the import is not finished.
type State struct {
	Format int `json:"format"`
	// File tells the file that was read, by size, time and first bytes; Job what it was imported
	// into and how. A state of another file or job is none.
	File string `json:"file"`
	Job  string `json:"job"`

	Rows    int64 `json:"rows"`    // rows to pass over, refused ones too
	Rejects int64 `json:"rejects"` // bytes of the file of refused rows that belong to them
	Lines   int64 `json:"lines"`   // lines of the file that the refused ones have
	// Source and Key are those of the last row that was accepted: whoever goes on can ask whether
	// it is still there.
	Source string `json:"source,omitempty"`
	Key    string `json:"key,omitempty"`
	// Counts by outcome, to be gone on with.
	Counts map[string]int64 `json:"counts"`
}

// StateName is where the state of a file stands.
func StateName(name string) string {
	return filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".locus-ingest")
}

// Fingerprint names the content of a file without reading all of it: size, time of the last
// change, hash of the first 64 KiB.
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

// LoadState answers with the state of a file, nil if there is none for this file and job.
func LoadState(name, fingerprint, job string) (*State, error) {
	text, err := os.ReadFile(StateName(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how far the import had come: %w", err)
	}
	var s State
	// A state that cannot be read is no reason to stop: from the beginning is safe too.
	if json.Unmarshal(text, &s) != nil || s.Format != stateFormat || s.File != fingerprint || s.Job != job {
		return nil, nil //nolint:nilerr // see above
	}
	return &s, nil
}

// Save writes the state so that a crash leaves the old one or the new one.
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

// RemoveState forgets a finished import.
func RemoveState(name string) error {
	if err := os.Remove(StateName(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget a finished import: %w", err)
	}
	return nil
}
