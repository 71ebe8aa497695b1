// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/term"
)

const (
	// syncs is how many writes of the disk are timed.
	syncs = 15
	// slowSync is the duration of a durable write from which doctor warns: every commit waits for one.
	slowSync = 30 * time.Millisecond
	// leastRoom is the free room below which nothing works for long, in bytes.
	leastRoom = 256 << 20
)

// disk describes the file system of a directory.
type disk struct {
	name    string // "" if unknown
	shared  bool   // reached over a network
	memory  bool   // lost when the machine stops
	free    int64  // bytes that this user may take
	known   bool   // whether free is known
	maximum uint64 // files that the process may have open; 0 if unknown
}

// machine looks at the machine below a data directory.
func (x *examination) machine(dir string) {
	info, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return // that it holds no data is said already
	}
	if err != nil {
		x.fail("directory", "let the user of the server own it", "%v", err)
		x.bare("cannot be read")
		return
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		x.warn("directory", "chmod 700 "+dir, "other users of this machine may enter %s: mode %o", dir, info.Mode().Perm())
		x.bare("mode %o", info.Mode().Perm())
	}
	d := diskOf(dir)
	switch {
	case d.shared:
		x.fail("file system", "put the data on a local disk, or use PostgreSQL cells",
			"%s is on %s, whose locks and syncs SQLite cannot rely on", dir, d.name)
		x.bare("it is on %s", d.name)
	case d.memory:
		x.warn("file system", "put the data on a disk", "%s is in memory (%s): it is lost when the machine stops",
			dir, d.name)
		x.bare("it is in memory (%s)", d.name)
	case d.name != "":
		x.ok("file system", "%s", d.name)
	}
	if need := max(2*x.largest, leastRoom); d.known && d.free < need {
		x.fail("room", "free some, or move cells away: locus cell move", "%s bytes are free, but rewriting a cell needs %s",
			term.Count(d.free), term.Count(need))
	} else if d.known {
		x.ok("room", "%s bytes are free", term.Count(d.free))
	}
	if d.maximum > 0 && d.maximum < 4096 {
		x.warn("open files", "raise the limit (ulimit -n, LimitNOFILE): 240 cells take 1,700 files",
			"the limit is %d", d.maximum)
	}
	x.logs(dir)
	switch took, err := syncTime(dir); {
	case err != nil:
		x.fail("disk", "let the user of the server write there", "a file cannot be written: %v", err)
		x.bare("a file cannot be written")
	case took > slowSync:
		x.warn("disk", "use a disk that syncs faster: every commit waits for it", "a durable write takes %s",
			took.Round(100*time.Microsecond))
	default:
		x.ok("disk", "a durable write takes %s", took.Round(time.Microsecond))
	}
}

// logLarge is how large the write-ahead log of a cell may be.
const logLarge = 256 << 20

// logs names write-ahead logs that grow: they shrink only when nothing reads an old snapshot.
func (x *examination) logs(dir string) {
	var large []string
	_ = filepath.WalkDir(dir, func(name string, of fs.DirEntry, err error) error {
		if err == nil && !of.IsDir() && strings.HasSuffix(name, "-wal") {
			if info, err := of.Info(); err == nil && info.Size() > logLarge {
				large = append(large, name)
			}
		}
		return nil // things that cannot be inspected are named by other findings
	})
	if len(large) > 0 {
		x.warn("log", "look for a reader of an old snapshot, such as a backup that does not end", "%s has more than %s bytes",
			strings.Join(large, ", "), term.Count(logLarge))
		x.bare("%d have more than %s bytes", len(large), term.Count(logLarge))
	}
}

// syncTime returns the median time of a durable write of a page to a file in dir, which it removes.
func syncTime(dir string) (_ time.Duration, err error) {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	page, times := make([]byte, 4096), make([]time.Duration, syncs)
	for i := range times {
		began := time.Now()
		if _, err := f.WriteAt(page, int64(i*len(page))); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times[syncs/2], nil
}
