// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Files are read several times, so a file that has changed before the last time would give its rows wrong clusters.
func TestOneShot_Unchanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(file string) error{
		"replaced": func(file string) error {
			return errors.Join(os.WriteFile(file+".new", []byte("a,b\n"), 0o600), os.Rename(file+".new", file))
		},
		"longer":  func(file string) error { return os.WriteFile(file, []byte("a,b\n1,2\n"), 0o600) },
		"written": func(file string) error { return os.Chtimes(file, time.Time{}, time.Unix(1, 0)) },
		"removed": os.Remove,
	} {
		file := filepath.Join(t.TempDir(), "in.csv")
		if err := os.WriteFile(file, []byte("a,b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		o := &oneShot{files: []string{"sqlite:shop.db", file}, found: []fs.FileInfo{nil, info}}
		if err := o.unchanged(); err != nil {
			t.Errorf("%s: %v before", name, err)
		}
		if err := change(file); err != nil {
			t.Fatal(err)
		}
		if err := o.unchanged(); err == nil {
			t.Errorf("%s: it counts as unchanged", name)
		}
	}
}
