// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is written under a temporary name beside its own, and gets its name when it is complete. A file
// that had the name before is replaced by Commit, not earlier.
type File struct {
	*os.File
	// Private lets only the owner read a new file.
	Private bool

	name string
	done bool
}

// Create begins a file. Its directory must exist.
func Create(name string) (*File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("write %s: it is no regular file", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &File{File: f, name: name}, nil
}

// Commit makes the content durable and gives the file its name, in one step. A new file can be read by others as far as
// the directory allows, a replaced one keeps its permissions.
func (f *File) Commit() error {
	mode := fs.FileMode(0o644)
	if f.Private {
		mode = 0o600
	}
	if info, err := os.Stat(f.name); err == nil {
		mode = info.Mode().Perm()
	}
	if err := errors.Join(f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	if err := os.Rename(f.Name(), f.name); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	f.done = true
	return nil
}

// Discard removes the file unless Commit gave it its name. Deferring it after Create cleans up in every case.
func (f *File) Discard() {
	if !f.done {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}
