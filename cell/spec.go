// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrMap means that a cell map contradicts itself, its predecessor or its format; the text names the generation or the
// cells.
var ErrMap = errors.New("cell: invalid cell map")

// Spec is a cell map as plain data: NewMap checks it and makes a Map of it.
type Spec struct {
	// ID identifies a map and all its successors. If empty, NewMap draws it from Rand, and the salt, unless that is
	// set.
	ID string
	// Epoch counts the versions of a map. Defaults to 1.
	Epoch uint64
	// Generations, oldest first. At least one; the number of cells of each is a multiple of that of the one before.
	Generations []Generation
	// Current is the generation that new keys go to.
	Current int
	// Floor is the oldest generation whose cells still hold keys.
	Floor int
	// Until is the first moment, in ID time, that this version does not cover: IDs dated then or later are neither
	// routed nor minted with it.
	//
	// The zero value promises that no generation will ever be added, so that IDs of any date may be routed: right for
	// one machine, whose only process never has to learn of growth. Append rejects every generation after it. Leaving
	// the date out is the only way to give this promise: with a date in the far future, Append would have to accept a
	// generation after it.
	Until time.Time
	// Authority is the cell that stores the newest version.
	Authority ID
	// Salt of the digests in the key directories.
	Salt [16]byte
	// MinFormat is the oldest format of a cell that takes writes. Defaults to 1.
	MinFormat int
	// Moved is the location of each cell that has left the one its generation gave it.
	Moved map[ID]Home
	// Rand is the source of ID and Salt if ID is empty. Defaults to crypto/rand.
	Rand io.Reader
}

// Generation is a set of cells added together.
type Generation struct {
	// Cells is how many cells the generation adds.
	Cells uint64
	// Starts is the ID time, in whole milliseconds, from which IDs live in this generation. The first generation takes
	// all older IDs too. The zero value is 1970.
	Starts time.Time
	// URLs are the places of the cells: cell i is at URLs[i mod len], with {g} and {i} replaced by generation and
	// index; 2^20 cells at most. Without any, the map serves for arithmetic only.
	URLs []string
}

// Home is where a cell is after it moved.
type Home struct {
	URL string
	// Incarnation counts the homes of a cell; the one its generation gave it was 1.
	Incarnation int
}

// maxPlaced is how many cells of a map may have URLs, each of which is compared with all others. Maps without URLs, for
// arithmetic, may be larger.
const maxPlaced = 1 << 20

// lastTime is the last millisecond that RFC 3339 can write; IDs reach to the year 10889.
var lastTime = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()

func (s Spec) withDefaults() (Spec, error) {
	s.Generations = slices.Clone(s.Generations)
	for i := range s.Generations {
		g := &s.Generations[i]
		g.URLs = slices.Clone(g.URLs)
		if g.Starts.IsZero() {
			g.Starts = time.UnixMilli(0)
		}
		g.Starts = g.Starts.UTC()
	}
	s.Moved = maps.Clone(s.Moved)
	s.Until = s.Until.UTC()
	if s.Epoch == 0 {
		s.Epoch = 1
	}
	if s.MinFormat == 0 {
		s.MinFormat = 1
	}
	if s.Rand == nil {
		s.Rand = rand.Reader
	}
	if s.ID == "" {
		var id, salt [16]byte
		for _, b := range [][]byte{id[:], salt[:]} {
			if _, err := io.ReadFull(s.Rand, b); err != nil {
				return Spec{}, fmt.Errorf("draw id and salt of a cell map: %w", err)
			}
		}
		s.ID = hex.EncodeToString(id[:])
		if s.Salt == ([16]byte{}) {
			s.Salt = salt
		}
	}
	s.Rand = nil
	return s, nil
}

// check rejects a map that cannot be routed with. It checks everything but the text form.
func (s Spec) check() error {
	if err := checkCounts(s.Generations); err != nil {
		return err
	}
	for i, g := range s.Generations {
		if err := checkTime(g.Starts); err != nil {
			return fmt.Errorf("%w: start of generation %d: %w", ErrMap, i, err)
		}
		if i > 0 && !g.Starts.After(s.Generations[i-1].Starts) {
			return fmt.Errorf("%w: generation %d starts at %v, not after generation %d", ErrMap, i, g.Starts, i-1)
		}
	}
	n := len(s.Generations)
	if s.Floor < 0 || s.Floor > s.Current || s.Current >= n {
		return fmt.Errorf("%w: want 0 <= floor %d <= current %d < %d generations", ErrMap, s.Floor, s.Current, n)
	}
	if !s.Until.IsZero() {
		if err := checkTime(s.Until); err != nil {
			return fmt.Errorf("%w: until: %w", ErrMap, err)
		}
		if starts := s.Generations[s.Current].Starts; !s.Until.After(starts) {
			return fmt.Errorf("%w: until %v is not after the start of the current generation, %v", ErrMap, s.Until, starts)
		}
	}
	if !s.has(s.Authority) {
		return fmt.Errorf("%w: authority %v is not one of its cells", ErrMap, s.Authority)
	}
	if s.MinFormat < 1 {
		return fmt.Errorf("%w: min_format %d is below 1", ErrMap, s.MinFormat)
	}
	return s.checkURLs()
}

// checkCounts rejects counts for which two ranges of puids would overlap (T3).
func checkCounts(gens []Generation) error {
	if len(gens) == 0 {
		return fmt.Errorf("%w: it has no generation", ErrMap)
	}
	for i, g := range gens {
		if g.Cells == 0 {
			return fmt.Errorf("%w: generation %d has no cells", ErrMap, i)
		}
		if i > 0 && g.Cells%gens[i-1].Cells != 0 {
			return fmt.Errorf("%w: %d cells of generation %d are no multiple of the %d of generation %d: segments would not nest", ErrMap, g.Cells, i, gens[i-1].Cells, i-1)
		}
	}
	finest := gens[len(gens)-1].Cells
	if room := ring / min(finest, ring+1); uint64(len(gens)) > room {
		return fmt.Errorf("%w: %d generations, but between the ranges of %d cells there is room for %d", ErrMap, len(gens),
			finest, room)
	}
	if len(gens) > math.MaxUint16 {
		return fmt.Errorf("%w: %d generations, at most %d", ErrMap, len(gens), math.MaxUint16)
	}
	return nil
}

func checkTime(t time.Time) error {
	if ms := t.UnixMilli(); ms < 0 || ms > lastTime {
		return fmt.Errorf("%v does not lie between the years 1970 and 9999", t)
	}
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		return fmt.Errorf("%v is no whole millisecond", t)
	}
	return nil
}

// checkURLs rejects two cells at one place, and secrets, because every cell keeps a copy of the map.
func (s Spec) checkURLs() error {
	for g, gen := range s.Generations {
		for i, u := range gen.URLs {
			if err := checkURL(u); err != nil {
				return fmt.Errorf("%w: url %d of generation %d %w", ErrMap, i, g, err)
			}
		}
	}
	seen, placed := map[string]ID{}, uint64(0)
	place := func(c ID) error {
		u := s.url(c)
		if other, taken := seen[u]; taken {
			return fmt.Errorf("%w: cells %v and %v have one url: write {g} and {i} into it", ErrMap, other, c)
		}
		seen[u] = c
		return nil
	}
	for g, gen := range s.Generations {
		if len(gen.URLs) == 0 {
			continue
		}
		if placed += gen.Cells; placed > maxPlaced {
			return fmt.Errorf("%w: with generation %d there are %d cells with urls, at most %d are allowed",
				ErrMap, g, placed, maxPlaced)
		}
		for i := range gen.Cells {
			if err := place(ID{Gen: uint16(g), Index: uint32(i)}); err != nil {
				return err
			}
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(s.Moved), ID.Compare) {
		home := s.Moved[c]
		if !s.has(c) {
			return fmt.Errorf("%w: moved cell %v is not one of its cells", ErrMap, c)
		}
		if home.Incarnation < 2 {
			return fmt.Errorf("%w: moved cell %v has incarnation %d, at least 2", ErrMap, c, home.Incarnation)
		}
		if err := checkURL(home.URL); err != nil {
			return fmt.Errorf("%w: url of moved cell %v %w", ErrMap, c, err)
		}
		if len(s.Generations[c.Gen].URLs) == 0 {
			if err := place(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkURL(s string) error {
	if s == "" {
		return errors.New("is empty")
	}
	_, secret, err := ParseURL(s)
	switch {
	case err != nil:
		return errors.New("cannot be parsed")
	case secret:
		return errors.New("holds a password: every cell keeps a copy of the map, so put it into the environment or a password file")
	}
	return nil
}

func (s Spec) has(c ID) bool {
	return int(c.Gen) < len(s.Generations) && uint64(c.Index) < s.Generations[c.Gen].Cells
}

// url returns where a cell is, "" if the map does not say.
func (s Spec) url(c ID) string {
	if home, ok := s.Moved[c]; ok {
		return home.URL
	}
	urls := s.Generations[c.Gen].URLs
	if len(urls) == 0 {
		return ""
	}
	return strings.NewReplacer(
		"{g}", strconv.FormatUint(uint64(c.Gen), 10),
		"{i}", strconv.FormatUint(uint64(c.Index), 10),
	).Replace(urls[uint64(c.Index)%uint64(len(urls))])
}
