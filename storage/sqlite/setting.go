// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/locus-db/locus/cell"
)

// setting is a pragma that every connection of a kind must have.
type setting struct {
	pragma string
	value  string // as it is set
	want   string // as it reads back
}

// settings returns the settings of a connection. Those that durability depends on are the same for readers and
// writers.
func (o *Options) settings(writer bool) []setting {
	number := func(pragma string, n int) setting {
		return setting{pragma, strconv.Itoa(n), strconv.Itoa(n)}
	}
	// Deleted rows are overwritten, but not the pages that become free when words and postings are merged: that would
	// cost a quarter of what the index writes. Vacuum leaves neither.
	secure := setting{"secure_delete", "FAST", "2"}
	if o.Scratch {
		secure = setting{"secure_delete", "OFF", "0"}
	}
	queryOnly, busy := 1, 5000
	if writer {
		queryOnly, busy = 0, lockTry
	}
	return []setting{
		number("busy_timeout", busy),
		{"journal_mode", "WAL", "wal"},
		o.synchronous(),
		{"foreign_keys", "ON", "1"},
		secure,
		{"temp_store", "MEMORY", "2"},
		number("mmap_size", 0),
		// The cell runs its own checkpoints: SQLite ignores errors of an automatic one.
		number("wal_autocheckpoint", 0),
		number("cache_size", -o.CacheSize/o.parts(writer)/1024),
		number("query_only", queryOnly),
	}
}

func (o *Options) synchronous() setting {
	if o.Scratch {
		return setting{"synchronous", "OFF", "0"}
	}
	return setting{"synchronous", "FULL", "2"}
}

// lockTry is how many milliseconds SQLite waits for the file's lock when a write begins; Cell.lock retries.
const lockTry = 10

// parts is the divisor of the cell's page cache for one connection.
func (o *Options) parts(writer bool) int {
	if writer {
		return 2
	}
	return 2 * o.Readers
}

// resize gives the connection its share of the cell's page cache.
func (c *conn) resize(cache int64) error {
	if cache == c.cache {
		return nil
	}
	if err := c.set([]setting{{"cache_size", strconv.FormatInt(-cache/c.parts/1024, 10), ""}}); err != nil {
		return err
	}
	c.cache = cache
	return nil
}

// apply applies all settings and reads each one back.
func (c *conn) apply(settings []setting) error {
	if err := c.set(settings); err != nil {
		return err
	}
	return c.check(settings)
}

func (c *conn) set(settings []setting) error {
	for _, s := range settings {
		if _, err := c.do("PRAGMA " + s.pragma + " = " + s.value); err != nil {
			return fmt.Errorf("set %s: %w", s.pragma, err)
		}
	}
	return nil
}

// check reads the settings of the connection back.
func (c *conn) check(settings []setting) error {
	for _, s := range settings {
		r, err := c.do("PRAGMA " + s.pragma)
		if err != nil {
			return fmt.Errorf("read %s: %w", s.pragma, err)
		}
		got := ""
		if len(r) > 0 {
			got = fmt.Sprint(r[0])
		}
		// Memory maps may be compiled out; then the pragma returns nothing.
		if got != s.want && !(s.pragma == "mmap_size" && got == "") {
			return fmt.Errorf("%w: %s is %q on a connection, want %q: the file system may not support it; put the data on a local disk",
				cell.ErrPreflight, s.pragma, got, s.want)
		}
	}
	return nil
}

// minVersion is the first SQLite without the two causes of lost commits found in 2026.
var minVersion = [3]int{3, 53, 4}

// checkVersion refuses an older library.
func checkVersion(version string) error {
	parts := strings.Split(version, ".")
	for i, least := range minVersion {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i])
		}
		if n > least {
			return nil
		}
		if n < least {
			return fmt.Errorf("%w: SQLite %s is older than %d.%d.%d, which repairs the log and multi-file commits: update the driver",
				cell.ErrPreflight, version, minVersion[0], minVersion[1], minVersion[2])
		}
	}
	return nil
}
