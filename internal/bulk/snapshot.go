// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/exchange"
)

// Snapshot compares the stored records of a source with files that contain the whole source, in bounded memory.
//
//	Store   every record that the source had before the first row was put, with its version
//	Accept  every row, and Refuse every refused one: a record that a refused row names stays
//	Compare stored records that are in no row are missing, unless a Reason forbids deleting them
type Snapshot struct {
	Source string

	stored, rows, missing exchange.Sorter
	kinds                 map[string]bool // of accepted rows
	accepted              int64
	keyless, foreign      int64  // rows without a readable key; rows of another source
	firstKeyless          string // where
	firstForeign          string

	// The results of Compare, in records.
	Stored  int64 // before the first row was put
	New     int64 // of accepted rows, and not stored before
	Present int64 // stored before, and in a row
	Missing int64
	// MissingKinds are the missing records by kind.
	MissingKinds map[string]int64
	// Limit is the maximum number of records that may be deleted.
	Limit int64
}

// Stored is a record that a source has.
type Stored struct {
	Key     string `json:"key"`
	Kind    string `json:"kind"`
	Version int64  `json:"version,string"`
}

// Reason is why a snapshot deletes nothing.
type Reason string

// The reasons.
const (
	ReasonEmpty   Reason = "empty_snapshot"  // no row was accepted
	ReasonNoKey   Reason = "unknown_key"     // a refused row has no readable key: its record would look missing
	ReasonSources Reason = "several_sources" // rows of other sources
	ReasonKinds   Reason = "other_kinds"     // all rows are of other kinds than some of the missing records
	ReasonLimit   Reason = "delete_limit"    // more records are missing than may be deleted
)

// snapshotMemory is how much of each list is kept in memory.
const snapshotMemory = 4 << 20

// NewSnapshot returns a snapshot of a source, which the caller closes.
func NewSnapshot(source string) *Snapshot {
	sorter := exchange.Sorter{Memory: snapshotMemory}
	return &Snapshot{Source: source, stored: sorter, rows: sorter, missing: sorter, kinds: map[string]bool{}, MissingKinds: map[string]int64{}}
}

// Close removes temporary files.
func (s *Snapshot) Close() error {
	return errors.Join(s.stored.Close(), s.rows.Close(), s.missing.Close())
}

// Store adds a record that the source has.
func (s *Snapshot) Store(rec Stored) error {
	s.Stored++
	return s.stored.Add([]byte(rec.Key), rec.line())
}

// line returns a record as readStored reads it. A kind has no NUL.
func (r *Stored) line() []byte {
	line := append(strconv.AppendInt(nil, r.Version, 10), 0)
	line = append(append(line, r.Kind...), 0)
	return append(line, r.Key...)
}

func readStored(line []byte) (r Stored, err error) {
	version, rest, _ := bytes.Cut(line, []byte{0})
	kind, key, _ := bytes.Cut(rest, []byte{0})
	r.Kind, r.Key = string(kind), string(key)
	r.Version, err = strconv.ParseInt(string(version), 10, 64)
	return r, err
}

// Marks of a row, before its key.
const (
	markAccepted = '+'
	markRefused  = '-'
)

// Accept adds a row that is put, of a kind. where names the row to a person.
func (s *Snapshot) Accept(source, key, kind, where string) error {
	s.kinds[kind] = true
	return s.row(markAccepted, source, key, where)
}

// Refuse adds a row that is not put; source and key are "" if they cannot be read.
func (s *Snapshot) Refuse(source, key, where string) error {
	if source == "" || key == "" {
		if s.keyless++; s.keyless == 1 {
			s.firstKeyless = where
		}
		return nil
	}
	return s.row(markRefused, source, key, where)
}

func (s *Snapshot) row(mark byte, source, key, where string) error {
	if source != s.Source {
		if s.foreign++; s.foreign == 1 {
			s.firstForeign = where + " is of " + source
		}
		return nil
	}
	return s.rows.Add([]byte(key), append([]byte{mark}, key...))
}

// Compare compares once, after all rows were read and the given number were accepted and put.
func (s *Snapshot) Compare(accepted int64, most MaxDelete) error {
	s.accepted, s.Limit = accepted, most.Of(s.Stored)
	next, stop := iter.Pull2(s.keys())
	defer stop()
	row, err, more := next()
	// pass skips a key that is not stored.
	pass := func() {
		if row.accepted {
			s.New++
		}
		row, err, more = next()
	}
	for line, sortErr := range s.stored.All() {
		if sortErr != nil {
			return sortErr
		}
		rec, readErr := readStored(line)
		if readErr != nil {
			return fmt.Errorf("read the list of the source: %w", readErr)
		}
		for more && err == nil && row.key < rec.Key {
			pass()
		}
		switch {
		case err != nil:
			return err
		case more && row.key == rec.Key:
			s.Present++
			row, err, more = next()
		default:
			s.Missing++
			s.MissingKinds[rec.Kind]++
			if err := s.missing.Add([]byte(rec.Key), line); err != nil {
				return err
			}
		}
	}
	for more && err == nil {
		pass()
	}
	return err
}

// rowKey is a key that rows have.
type rowKey struct {
	key      string
	accepted bool // at least one of its rows was accepted
}

// keys returns the keys of all rows in order, each once. It can be read once.
func (s *Snapshot) keys() iter.Seq2[rowKey, error] {
	return func(yield func(rowKey, error) bool) {
		var of rowKey // "" before the first
		for line, err := range s.rows.All() {
			if err != nil {
				yield(rowKey{}, err)
				return
			}
			if key := line[1:]; string(key) != of.key {
				if of.key != "" && !yield(of, nil) {
					return
				}
				of = rowKey{key: string(key)}
			}
			of.accepted = of.accepted || line[0] == markAccepted
		}
		if of.key != "" {
			yield(of, nil)
		}
	}
}

// All returns the missing records in the order of their keys. It can be read once, after Compare.
func (s *Snapshot) All() iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		for line, err := range s.missing.All() {
			var rec Stored
			if err == nil {
				rec, err = readStored(line)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Forbids returns the reason why the missing records must not be deleted, with an explanation and a hint; "" if they
// may be deleted.
func (s *Snapshot) Forbids(most MaxDelete) (reason Reason, why, hint string) {
	var other []string
	for _, kind := range slices.Sorted(maps.Keys(s.MissingKinds)) {
		if !s.kinds[kind] {
			other = append(other, fmt.Sprintf("%d of kind %s", s.MissingKinds[kind], kind))
		}
	}
	switch {
	case s.foreign > 0:
		return ReasonSources, fmt.Sprintf("rows of other sources than %s: %d; %s", s.Source, s.foreign, s.firstForeign),
			"one file for each source, or --source " + s.Source + " if all rows are of it"
	case s.keyless > 0:
		return ReasonNoKey, fmt.Sprintf("refused rows without a readable key, whose records would look missing: %d, first at %s", s.keyless, s.firstKeyless),
			"repeat the command with corrected rows"
	case s.accepted == 0:
		return ReasonEmpty, "no row of " + s.Source + " was accepted", "locus source delete " + s.Source + " deletes all records of a source"
	case len(other) > 0:
		return ReasonKinds, fmt.Sprintf("%s has records of kinds that no row has: %s", s.Source, strings.Join(other, ", ")),
			"name all files of the source in one command, or delete the others with locus source delete " + s.Source + " --kind NAME"
	case s.Missing > s.Limit:
		return ReasonLimit, fmt.Sprintf("%d of %d records of %s are not in the snapshot, and --max-delete (%s) allows %d", s.Missing, s.Stored, s.Source, most, s.Limit),
			fmt.Sprintf("--dry-run lists them; --max-delete %d if that is right", s.Missing)
	}
	return "", "", ""
}
