// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/exchange"
)

// checkOutputs checks the names of tables to write before anything is read: each is of a known format and in a
// directory, and is neither read nor written twice.
func checkOutputs(outputs, inputs []string) error {
	for i, name := range outputs {
		if name == "" {
			continue
		}
		same := func(other string) bool { return isSameFile(name, other) || isStdout(name) && isStdout(other) }
		dir := filepath.Dir(name)
		info, err := os.Stat(dir)
		switch {
		case slices.ContainsFunc(outputs[:i], same):
			return usage("name another file", "%.80q would be written twice", name)
		case isStdout(name):
			continue
		case slices.ContainsFunc(inputs, same):
			return usage("name another file", "%.80q would be read and written", name)
		case isDir(name):
			return usage("name a file in it: "+filepath.Join(name, "out.csv"), "write %.80q: it is a directory", name)
		case err != nil || !info.IsDir():
			return usage("name a file in a directory that exists", "write %.80q: there is no directory %.80q", name, dir)
		}
		if _, err := exchange.ParseFormat("", name, exchange.CSV); err != nil {
			return usage("name a file that ends in .csv, .jsonl or .parquet", "write %.80q: %v", name, err)
		}
	}
	return nil
}

// isSameFile reports whether two names lead to one file.
func isSameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || errX == nil && errY == nil && x.Mode().IsRegular() &&
		os.SameFile(x, y)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// isStdout reports whether the name of an output means the standard output.
func isStdout(name string) bool { return name == bulk.Stdin || name == "/dev/stdout" }

// create begins an output. For the standard output the file is nil; a file gets its name when it is complete.
func (a *app) create(name string) (io.Writer, *exchange.File, error) {
	if isStdout(name) {
		return a.stdout, nil, nil
	}
	file, err := exchange.Create(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, usage("name a file in a directory that exists", "%v", err)
	}
	return file, file, nil
}
