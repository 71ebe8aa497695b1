// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
)

// hashVector is a line of testdata/hash.jsonl, made by an independent implementation: some of its keys were found by
// running the hash backwards.
type hashVector struct {
	Note         string
	Source, Key  string // hex
	Hash         string
	Position     uint32
	Ring         int64 `json:",string"`
	Cells        map[string]uint32
	Digest       string // with a salt of 16 zero bytes
	DigestSalted string `json:"digest_salted"` // with the bytes 0 to 15
}

func hashVectors(t *testing.T) (all []hashVector) {
	t.Helper()
	f, err := os.Open("testdata/hash.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var v hashVector
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		for _, field := range []*string{&v.Source, &v.Key} {
			b, err := hex.DecodeString(*field)
			if err != nil {
				t.Fatal(err)
			}
			*field = string(b)
		}
		all = append(all, v)
	}
	if len(all) != 6+64 {
		t.Fatalf("%d vectors, want 70", len(all))
	}
	return all
}

func TestHash_Vectors(t *testing.T) {
	t.Parallel()
	var zero, counting [16]byte
	for i := range counting {
		counting[i] = byte(i)
	}
	unsalted, salted := arithmetic(t, zero, 16), arithmetic(t, counting, 16)
	maps := map[string]*cell.Map{}
	for _, v := range hashVectors(t) {
		h := cell.Hash(v.Source, v.Key)
		if got := fmt.Sprintf("%016x", h); got != v.Hash || cell.Position(h) != v.Position {
			t.Errorf("%s: hash %s at %d, want %s at %d", v.Note, got, cell.Position(h), v.Hash, v.Position)
		}
		for salt, want := range map[*cell.Map]string{unsalted: v.Digest, salted: v.DigestSalted} {
			k := salt.KeyOf(v.Source, v.Key)
			if got := hex.EncodeToString(k.Digest[:]); got != want || k.Ring != v.Ring {
				t.Errorf("%s: key %d %s, want %d %s", v.Note, k.Ring, got, v.Ring, want)
			}
			if k.Hash() != h || k.Position() != v.Position {
				t.Errorf("%s: the key says hash %x at %d, want %x at %d", v.Note, k.Hash(), k.Position(), h, v.Position)
			}
		}
		for cells, want := range v.Cells {
			if maps[cells] == nil {
				n, err := strconv.ParseUint(cells, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				maps[cells] = arithmetic(t, zero, n)
			}
			if got := maps[cells].Key(0, v.Position); got.Index != want {
				t.Errorf("%s: cell %v of %s, want %d", v.Note, got, cells, want)
			}
		}
	}
}

func TestHash_TheLengthSeparates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(2, 40, 200).Draw(t, "text")
		i := rapid.IntRange(0, len(text)).Draw(t, "cut")
		j := rapid.IntRange(0, len(text)).Draw(t, "other cut")
		same := cell.Hash(text[:i], text[i:]) == cell.Hash(text[:j], text[j:])
		if same != (i == j) {
			t.Fatalf("%q cut at %d and %d: same hash is %v", text, i, j, same)
		}
	})
}

func TestHash_SourceTooLongPanics(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("s", cell.MaxSource+1)
	m := arithmetic(t, [16]byte{}, 16)
	for name, fn := range map[string]func(){
		"Hash":  func() { cell.Hash(long, "k") },
		"KeyOf": func() { m.KeyOf(long, "k") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			fn()
		}()
	}
}

// TestAllocations does not run in parallel, because it counts allocations.
func TestAllocations(t *testing.T) {
	m := example(t)
	var sink cell.ID
	id := exampleIDs[0].id
	for name, fn := range map[string]func(){
		"Hash":      func() { sink.Index = uint32(cell.Hash("twitter", "783214")) },
		"KeyOf":     func() { sink.Index = m.KeyOf("twitter", "783214").Position() },
		"Key":       func() { sink = m.Key(3, 0xd38ef8c1) },
		"Puid":      func() { sink, _ = m.Puid(-9223372036854775807) },
		"Entity":    func() { sink, _ = m.Entity(id) },
		"PuidRange": func() { m.PuidRange(sink) },
		"Segment":   func() { m.Segment(cell.ID{Gen: 3}, 7) },
	} {
		if n := testing.AllocsPerRun(100, fn); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	m, id := example(b), exampleIDs[0].id
	k := m.KeyOf("twitter", "783214")
	b.Run("Hash", func(b *testing.B) {
		for b.Loop() {
			cell.Hash("twitter", "783214")
		}
	})
	b.Run("KeyOf", func(b *testing.B) {
		for b.Loop() {
			m.KeyOf("twitter", "783214")
		}
	})
	b.Run("Key", func(b *testing.B) {
		for b.Loop() {
			m.Key(3, k.Position())
		}
	})
	b.Run("Puid", func(b *testing.B) {
		for b.Loop() {
			_, _ = m.Puid(-3074457338459979776)
		}
	})
	b.Run("Entity", func(b *testing.B) {
		for b.Loop() {
			_, _ = m.Entity(id)
		}
	})
	b.Run("Segment", func(b *testing.B) {
		for b.Loop() {
			m.Segment(cell.ID{Gen: 3, Index: 17}, 2500000000)
		}
	})
}
