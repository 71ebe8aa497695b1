// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// Each setting that durability depends on is detected when it is wrong on a connection.
func TestCheck_SeesEveryBrokenSetting(t *testing.T) {
	t.Parallel()
	for _, writer := range []bool{true, false} {
		settings := new(Options).withDefaults().settings(writer)
		for pragma, value := range map[string]string{
			"synchronous": "NORMAL", "journal_mode": "DELETE", "busy_timeout": "0", "foreign_keys": "OFF", "secure_delete": "OFF", "mmap_size": "1000000",
			"wal_autocheckpoint": "1000", "cache_size": "7",
		} {
			c, err := dial(filepath.Join(t.TempDir(), "cell.db"), settings)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.check(settings); err != nil {
				t.Errorf("a connection as it should be: %v", err)
			}
			if _, err := c.do("PRAGMA query_only = OFF"); err != nil {
				t.Fatal(err)
			}
			if _, err := c.do("PRAGMA " + pragma + " = " + value); err != nil {
				t.Fatal(err)
			}
			if err := c.check(settings); !errors.Is(err, cell.ErrPreflight) || !strings.Contains(err.Error(), pragma) {
				t.Errorf("a connection with %s = %s: %v, want cell.ErrPreflight that names it", pragma, value, err)
			}
			if err := c.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Connections of the pool are opened one by one on first use: each has the settings.
func TestView_EveryConnectionIsChecked(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, err := Open(ctx, filepath.Join(t.TempDir(), "cell.db"), cell.Identity{Map: "m"}, &Options{Readers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seen := map[*conn]bool{}
	var nest func(n int) error
	nest = func(n int) error {
		if n == 0 {
			return nil
		}
		return c.View(ctx, func(rt storage.Tx) error {
			on := rt.(*tx).conn
			seen[on] = true
			if err := on.check(c.opts.settings(false)); err != nil {
				t.Error(err)
			}
			return nest(n - 1)
		})
	}
	if err := nest(3); err != nil || len(seen) != 3 {
		t.Errorf("%d connections in three views inside each other, %v", len(seen), err)
	}
	if err := c.Update(ctx, func(rt storage.Tx) error { return rt.(*tx).conn.check(c.opts.settings(true)) }); err != nil {
		t.Error(err)
	}
}

// A setting that does not take effect makes opening the connection fail.
func TestDial_RefusesWhatIsNotTaken(t *testing.T) {
	t.Parallel()
	_, err := dial(filepath.Join(t.TempDir(), "cell.db"), []setting{{"synchronous", "NORMAL", "2"}})
	if !errors.Is(err, cell.ErrPreflight) || !strings.Contains(err.Error(), "synchronous") {
		t.Errorf("a connection that is not synchronous: %v, want cell.ErrPreflight", err)
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for version, ok := range map[string]bool{
		"3.53.4": true, "3.53.10": true, "3.54.0": true, "4.0.0": true, "3.53.4.1": true,
		"3.53.3": false, "3.53": false, "3.9.9": false, "2.99.99": false, "": false, "x": false,
	} {
		err := checkVersion(version)
		if ok != (err == nil) || err != nil && !errors.Is(err, cell.ErrPreflight) {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

// The page caches of all connections of a cell add up to the option.
func TestSettings_ShareTheCache(t *testing.T) {
	t.Parallel()
	o := (&Options{CacheSize: 12 << 20, Readers: 3}).withDefaults()
	want := map[bool]string{true: "-6144", false: "-2048"}
	for writer, size := range want {
		for _, s := range o.settings(writer) {
			if s.pragma == "cache_size" && s.value != size {
				t.Errorf("cache of a connection (writer: %v) is %s, want %s", writer, s.value, size)
			}
		}
	}
}
