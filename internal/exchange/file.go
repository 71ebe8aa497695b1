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
// that had the name before is replaced by Commit and not earlier. If the name is not a regular file, such as a pipe, it
// is written to directly. Commit and Discard of a nil File do nothing.
type File struct {
	*os.File
	// Private lets only the owner read a new file.
	Private bool

	name   string
	done   bool
	stream bool // not a regular file, written to directly
}

// Create begins a file. Its directory must exist. Of a link the file that it leads to is replaced, not the link.
func Create(name string) (*File, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("write %s: it is a directory", name)
	}
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		return &File{File: f, name: name, stream: true}, nil
	}
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
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
	if f == nil {
		return nil
	}
	if f.stream {
		f.done = true
		return f.Close()
	}
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
	if f == nil || f.done {
		return
	}
	_ = f.Close()
	if !f.stream {
		_ = os.Remove(f.Name())
	}
}
