// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
)

const (
	// mapFormat names the text form of a map and its version.
	mapFormat = "locus-cellmap/1"
	hashName  = "xxh64"
	hashSeed  = "0"
	// timeFormat is RFC 3339 in UTC with the milliseconds that IDs have.
	timeFormat = "2006-01-02T15:04:05.000Z"
)

// mapText is the text form of a map; its fields are in the order of output.
type mapText struct {
	Format      string           `json:"format"`
	ID          string           `json:"id"`
	Epoch       uint64           `json:"epoch"`
	Current     int              `json:"current"`
	Floor       int              `json:"floor"`
	Until       string           `json:"until,omitempty"`
	Authority   ID               `json:"authority"`
	Hash        hashText         `json:"hash"`
	Salt        string           `json:"salt"`
	PuidBits    int              `json:"puid_bits"`
	MinFormat   int              `json:"min_format"`
	Sum         string           `json:"sum,omitempty"`
	Generations []generationText `json:"generations"`
	Moved       map[ID]homeText  `json:"moved,omitempty"`
}

type hashText struct {
	Name string `json:"name"`
	Seed string `json:"seed"`
}

type generationText struct {
	Cells  uint64   `json:"cells"`
	Starts string   `json:"starts"`
	URLs   []string `json:"urls,omitempty"`
	// Puids may list the ranges, [lo, hi] for each cell. They follow from the counts, so they are checked and not kept.
	Puids [][2]string `json:"puids,omitempty"`
}

type homeText struct {
	URL         string `json:"url"`
	Incarnation int    `json:"incarnation"`
}

// MarshalJSON returns the text form of the map, on one line, always the same bytes for the same map. Its sum is the
// XXH64 of that line without the sum.
func (m *Map) MarshalJSON() ([]byte, error) {
	t := m.text()
	sum, err := t.sum()
	if err != nil {
		return nil, err
	}
	t.Sum = sum
	return json.Marshal(t)
}

// ParseMap parses the text form of a map and checks it like NewMap. It is strict: an unknown field, a wrong sum or
// trailing data is ErrMap. White space and the order of fields do not matter.
func ParseMap(text []byte) (*Map, error) {
	var t mapText
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMap, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: something follows it", ErrMap)
	}
	spec, err := t.spec()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMap, err)
	}
	m, err := NewMap(spec)
	if err != nil {
		return nil, err
	}
	if err := t.checkPuids(m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMap, err)
	}
	want, err := m.text().sum()
	if err != nil {
		return nil, err
	}
	if t.Sum != want {
		return nil, fmt.Errorf("%w: its sum says %q, its content %q: it was edited or damaged", ErrMap, t.Sum, want)
	}
	return m, nil
}

func (m *Map) text() mapText {
	t := mapText{
		Format:    mapFormat,
		ID:        m.spec.ID,
		Epoch:     m.spec.Epoch,
		Current:   m.spec.Current,
		Floor:     m.spec.Floor,
		Authority: m.spec.Authority,
		Hash:      hashText{Name: hashName, Seed: hashSeed},
		Salt:      hex.EncodeToString(m.spec.Salt[:]),
		PuidBits:  puidBits,
		MinFormat: m.spec.MinFormat,
	}
	if m.until != 0 {
		t.Until = m.spec.Until.Format(timeFormat)
	}
	for _, g := range m.spec.Generations {
		t.Generations = append(t.Generations,
			generationText{Cells: g.Cells, Starts: g.Starts.Format(timeFormat), URLs: g.URLs})
	}
	for c, home := range m.spec.Moved {
		if t.Moved == nil {
			t.Moved = map[ID]homeText{}
		}
		t.Moved[c] = homeText(home)
	}
	return t
}

func (t mapText) sum() (string, error) {
	t.Sum = ""
	line, err := json.Marshal(t)
	return fmt.Sprintf("%016x", xxhash.Sum64(line)), err
}

// spec returns the map as data, after checks that only the text form needs.
func (t mapText) spec() (Spec, error) {
	switch {
	case t.Format != mapFormat:
		return Spec{}, fmt.Errorf("its format is %q, this program reads %q: use a newer program", t.Format, mapFormat)
	case t.Hash != hashText{Name: hashName, Seed: hashSeed}:
		return Spec{}, fmt.Errorf("hash %q with seed %q is not known: want %q with seed %q", t.Hash.Name, t.Hash.Seed,
			hashName, hashSeed)
	case t.PuidBits != puidBits:
		return Spec{}, fmt.Errorf("puid_bits is %d, must be %d", t.PuidBits, puidBits)
	case t.ID == "":
		return Spec{}, fmt.Errorf("its id is empty")
	case t.Epoch == 0:
		return Spec{}, fmt.Errorf("its epoch is 0, they begin with 1")
	case t.MinFormat == 0:
		return Spec{}, fmt.Errorf("its min_format is 0, they begin with 1")
	}
	s := Spec{
		ID: t.ID, Epoch: t.Epoch, Current: t.Current, Floor: t.Floor,
		Authority: t.Authority, MinFormat: t.MinFormat,
	}
	salt, err := hex.DecodeString(t.Salt)
	if err != nil || len(salt) != len(s.Salt) {
		return Spec{}, fmt.Errorf("its salt is not %d hex digits", 2*len(s.Salt))
	}
	s.Salt = [16]byte(salt)
	if t.Until != "" {
		if s.Until, err = time.Parse(time.RFC3339, t.Until); err != nil {
			return Spec{}, fmt.Errorf("until: %w", err)
		}
	}
	for i, g := range t.Generations {
		starts, err := time.Parse(time.RFC3339, g.Starts)
		if err != nil {
			return Spec{}, fmt.Errorf("start of generation %d: %w", i, err)
		}
		s.Generations = append(s.Generations, Generation{Cells: g.Cells, Starts: starts, URLs: g.URLs})
	}
	for c, home := range t.Moved {
		if s.Moved == nil {
			s.Moved = map[ID]Home{}
		}
		s.Moved[c] = Home(home)
	}
	return s, nil
}

// checkPuids compares listed ranges with the computed ones. Computed ranges never overlap, so overlapping ones are
// rejected.
func (t mapText) checkPuids(m *Map) error {
	for g, gen := range t.Generations {
		if len(gen.Puids) == 0 {
			continue
		}
		if uint64(len(gen.Puids)) != gen.Cells {
			return fmt.Errorf("generation %d spells out %d ranges of puids for %d cells", g, len(gen.Puids), gen.Cells)
		}
		for i, got := range gen.Puids {
			c := ID{Gen: uint16(g), Index: uint32(i)}
			lo, hi := m.PuidRange(c)
			if want := [2]string{strconv.FormatInt(lo, 10), strconv.FormatInt(hi, 10)}; got != want {
				return fmt.Errorf("cell %v has puids %s to %s, must be %s to %s", c, got[0], got[1], want[0], want[1])
			}
		}
	}
	return nil
}
