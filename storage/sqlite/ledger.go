// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/locus-db/locus/cell"
)

const (
	// ledgerName is the file of a data directory that holds the pulses of all cells.
	ledgerName = "witness"
	// ledgerLine is the length of a line in bytes. It divides a sector, so a line is written entirely or not at
	// all.
	ledgerLine = 64
	ledgerHead = "locus-witness/1"
)

// ledger is a cell.Ledger in a file of a data directory:
//
//	locus-witness/1 HOME
//	g0-0 INCARNATION COMMITS
//	g0-1 ...
//
// Each line is padded to 64 bytes and overwritten in place after a commit and before the commit is acknowledged,
// without a sync. So the file is exact after a kill, and after a machine failure it may be behind the commits but
// never ahead.
type ledger struct {
	mu    sync.Mutex
	file  *os.File
	lines map[cell.ID]ledgerEntry
	next  int64  // offset of the next line
	home  string // fileNumber of the file when it was created
	dirty bool
}

type ledgerEntry struct {
	at    int64 // offset
	pulse cell.Pulse
}

// openLedger opens the ledger of a directory, or creates it.
func openLedger(dir string) (*ledger, error) {
	path := filepath.Join(dir, ledgerName)
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	made := errors.Is(err, fs.ErrNotExist)
	if made {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("open the pulses of the cells: %w", err)
	}
	l := &ledger{file: f, lines: map[cell.ID]ledgerEntry{}}
	if err = l.read(path); err == nil && l.home == "" {
		err = l.begin(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// read reads the lines. A line of zeros was never written, because the machine failed before.
func (l *ledger) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the pulses of the cells: %w", err)
	}
	l.next = int64(max(ledgerLine, (len(text)+ledgerLine-1)/ledgerLine*ledgerLine))
	for at := 0; at+ledgerLine <= len(text); at += ledgerLine {
		line := text[at : at+ledgerLine]
		if len(bytes.Trim(line, "\x00")) == 0 {
			continue
		}
		fields := bytes.Fields(line)
		if at == 0 && len(fields) == 2 && string(fields[0]) == ledgerHead {
			l.home = string(fields[1])
			continue
		}
		entry, id, err := parseLedger(fields)
		if err != nil || at == 0 {
			return fmt.Errorf("%w: line %d of %s is damaged: put the file back, or accept what is in the cells: delete it, then run locus cell restored", cell.ErrWentBack, at/ledgerLine+1, path)
		}
		entry.at = int64(at)
		l.lines[id] = entry
	}
	return nil
}

func parseLedger(fields [][]byte) (e ledgerEntry, id cell.ID, err error) {
	if len(fields) != 3 {
		return e, id, fmt.Errorf("it has %d fields, want 3", len(fields))
	}
	id, err1 := cell.ParseID(string(fields[0]))
	incarnation, err2 := strconv.Atoi(string(fields[1]))
	commits, err3 := strconv.ParseUint(string(fields[2]), 10, 64)
	e.pulse = cell.Pulse{Incarnation: incarnation, Commits: commits}
	return e, id, errors.Join(err1, err2, err3)
}

// begin writes the first line with the number of this file.
func (l *ledger) begin(dir string) error {
	info, err := l.file.Stat()
	if err == nil {
		l.home = fileNumber(info)
		err = l.write(0, ledgerHead+" "+l.home)
	}
	if err == nil {
		err = errors.Join(l.file.Sync(), syncDir(dir))
	}
	if err != nil {
		return fmt.Errorf("begin the pulses of the cells: %w", err)
	}
	return nil
}

func (l *ledger) write(at int64, line string) error {
	padded := bytes.Repeat([]byte{' '}, ledgerLine)
	copy(padded, line)
	padded[ledgerLine-1] = '\n'
	_, err := l.file.WriteAt(padded, at)
	return err
}

// copied reports whether the file is a copy: a copy has another file number.
func (l *ledger) copied() (bool, error) {
	info, err := l.file.Stat()
	if err != nil {
		return false, err
	}
	return fileNumber(info) != l.home, nil
}

// knows reports whether the ledger holds the pulse of any cell.
func (l *ledger) knows() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines) > 0
}

// Known implements cell.Ledger.
func (l *ledger) Known(id cell.ID) (cell.Pulse, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.lines[id]
	return e.pulse, ok
}

// Note implements cell.Ledger.
func (l *ledger) Note(id cell.ID, p cell.Pulse) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.lines[id]; ok && !e.pulse.Before(p) {
		return nil
	}
	return l.put(id, p)
}

// put writes the line of a cell. The first line of a cell is synced at once. So a cell with commits but without a line
// must have been restored without this file.
func (l *ledger) put(id cell.ID, p cell.Pulse) error {
	e, ok := l.lines[id]
	if !ok {
		e.at = l.next
	}
	e.pulse = p
	err := l.write(e.at, fmt.Sprintf("%v %d %d", id, p.Incarnation, p.Commits))
	if err == nil && !ok {
		l.next += ledgerLine
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("note the pulse of cell %v: %w", id, err)
	}
	l.lines[id] = e
	l.dirty = true
	return nil
}

// Sync implements cell.Ledger.
func (l *ledger) Sync() error {
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = false
	l.mu.Unlock()
	if !dirty {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync the pulses of the cells: %w", err)
	}
	return nil
}

// Accept implements cell.Ledger. It records this file's number, so that it no longer counts as a copy.
func (l *ledger) Accept(pulses map[cell.ID]cell.Pulse) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, p := range pulses {
		if err := l.put(id, p); err != nil {
			return err
		}
	}
	info, err := l.file.Stat()
	if err == nil {
		l.home = fileNumber(info)
		err = errors.Join(l.write(0, ledgerHead+" "+l.home), l.file.Sync())
	}
	if err != nil {
		return fmt.Errorf("accept the pulses of the cells: %w", err)
	}
	return nil
}

func (l *ledger) close() error { return errors.Join(l.Sync(), l.file.Close()) }
