// SPDX-License-Identifier: Apache-2.0

package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/sink"
)

// manifest lists the parts that together have the newest event of every ID.
type manifest struct {
	Format   Format        `json:"format"`
	Token    int64         `json:"token,string"`
	Position sink.Position `json:"position"`
	Parts    []part        `json:"parts"`
	// Former are parts that were merged into others and will be removed.
	Former []former `json:"former,omitempty"`
	// Next is the number of the next part.
	Next int64 `json:"next"`
}

// part is a file of events in the order of their IDs, each ID once. The newest event of an ID has the highest rev of
// all parts.
type part struct {
	Name  string `json:"name"`
	Level int    `json:"level"`
	Rows  int64  `json:"rows"`
}

// former is a part that a merge has replaced.
type former struct {
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
}

const manifestPrefix, manifestSuffix = "manifest-", ".json"

// partName returns the name of a part; fixed widths make names sort by age.
func partName(token, number int64, format Format) string {
	return fmt.Sprintf("%s%020d-%08d.%s", partPrefix, token, number, format)
}

const partPrefix = "part-"

// readManifest reads the manifest of a directory: that with the highest token. The error is fs.ErrNotExist if it has
// none.
func readManifest(dir string) (m manifest, err error) {
	token, err := newest(dir)
	if err != nil {
		return m, err
	}
	if token < 0 {
		return m, fmt.Errorf("file: %s has no manifest: %w", dir, fs.ErrNotExist)
	}
	name := filepath.Join(dir, manifestName(token))
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("file: read the manifest %s: %w", name, err)
	}
	return m, nil
}

func manifestName(token int64) string {
	return fmt.Sprintf("%s%020d%s", manifestPrefix, token, manifestSuffix)
}

// newest returns the highest token of a manifest, -1 without one.
func newest(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("file: list %s: %w", dir, err)
	}
	token := int64(-1)
	for _, e := range entries {
		if n, is := manifestToken(e.Name()); is {
			token = max(token, n)
		}
	}
	return token, nil
}

func manifestToken(name string) (int64, bool) {
	digits, is := strings.CutPrefix(name, manifestPrefix)
	digits, ends := strings.CutSuffix(digits, manifestSuffix)
	if !is || !ends {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// write replaces the manifest of its token. The parts are durable before.
func (m *manifest) write(dir string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := exchange.Create(filepath.Join(dir, manifestName(m.Token)))
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(append(text, '\n')); err != nil {
		return err
	}
	return errors.Join(syncDir(dir), f.Commit(), syncDir(dir))
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeStrays removes files that no manifest lists: files of a process that was killed, and the manifests of former
// owners.
func (m *manifest) removeStrays(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		token, manifest := manifestToken(name)
		listed := slices.ContainsFunc(m.Parts, func(p part) bool { return p.Name == name }) ||
			slices.ContainsFunc(m.Former, func(f former) bool { return f.Name == name })
		temporary := strings.HasPrefix(name, "."+partPrefix) || strings.HasPrefix(name, "."+manifestPrefix)
		if manifest && token < m.Token || !manifest && !listed && (strings.HasPrefix(name, partPrefix) || temporary) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// removeFormer removes the parts that were replaced before a time.
func (m *manifest) removeFormer(dir string, before time.Time) (err error) {
	m.Former = slices.DeleteFunc(slices.Clone(m.Former), func(f former) bool {
		if !f.Since.Before(before) {
			return false
		}
		if e := os.Remove(filepath.Join(dir, f.Name)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
			return false
		}
		return true
	})
	return err
}
