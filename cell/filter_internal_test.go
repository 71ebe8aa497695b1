// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

func rings(n int) []uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	vs := make([]uint64, n)
	for i := range vs {
		vs[i] = r.Uint64()
	}
	return vs
}

func keyAt(ring uint64) Key { return Key{Ring: int64(ring)} }

func makeFilter(t testing.TB, n int) *filter {
	t.Helper()
	f, err := newFilter(rings(n))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A filter contains all its keys, before and after it was stored, and hardly any others, in little more than a byte per
// key.
func TestFilter(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, 10, 100, 1000, 100_000} {
		f := makeFilter(t, n)
		blob := f.marshal()
		back, err := parseFilter(blob)
		if err != nil {
			t.Fatalf("%d keys: %v", n, err)
		}
		if again := back.marshal(); !bytes.Equal(again, blob) || back.rings != uint64(n) {
			t.Errorf("%d keys: stored again, %d bytes differ from %d", n, len(again), len(blob))
		}
		for _, f := range []*filter{f, back} {
			for _, ring := range rings(n) {
				if f.lacks(keyAt(ring)) {
					t.Fatalf("%d keys: lacks %x", n, ring)
				}
			}
			others, r := 0, rand.New(rand.NewPCG(3, 4))
			for range 100_000 {
				if !f.lacks(keyAt(r.Uint64())) {
					others++
				}
			}
			if others > 500 || n == 0 && others > 0 {
				t.Errorf("%d keys: of 100,000 others it does not lack %d", n, others)
			}
		}
		if bits := 8 * float64(len(blob)) / float64(n); n >= 100_000 && bits > 9.6 {
			t.Errorf("%d keys: %.2f bits a key", n, bits)
		}
	}
}

// Filters are stored, so the format must stay readable.
func TestFilter_StoredForm(t *testing.T) {
	t.Parallel()
	const golden = "6c6f63757366310a0300000000000000c15c0289ec2d0a91080000000100000000000000000000000000ad00000000000000000000710030c87e93d3a0889a80"
	blob, err := hex.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseFilter(blob)
	if err != nil {
		t.Fatal(err)
	}
	lacks := ""
	for _, ring := range []uint64{0, 1, math.MaxUint64, 2, 3, 1 << 63} {
		lacks += fmt.Sprintf("%x:%v ", ring, f.lacks(keyAt(ring)))
	}
	if want := "0:false 1:false ffffffffffffffff:false 2:true 3:true 8000000000000000:true "; lacks != want {
		t.Errorf("lacks %s, want %s", lacks, want)
	}
	if got := hex.EncodeToString(f.marshal()); got != golden {
		t.Errorf("written again %s", got)
	}
}

func TestParseFilter_Refuses(t *testing.T) {
	t.Parallel()
	blob := makeFilter(t, 100).marshal()
	sum := func(b []byte) []byte {
		return binary.LittleEndian.AppendUint64(b[:len(b)-filterSum], xxhash.Sum64(b[:len(b)-filterSum]))
	}
	for name, change := range map[string]func(b []byte) []byte{
		"nothing":          func([]byte) []byte { return nil },
		"too short":        func(b []byte) []byte { return b[:filterHead] },
		"another form":     func(b []byte) []byte { b[6] = '2'; return sum(b) },
		"a flipped bit":    func(b []byte) []byte { b[filterHead+3] ^= 4; return b },
		"cut":              func(b []byte) []byte { return b[:len(b)-1] },
		"cut, summed":      func(b []byte) []byte { return sum(b[:len(b)-1]) },
		"no segments":      func(b []byte) []byte { copy(b[28:32], make([]byte, 4)); return sum(b) },
		"long segments":    func(b []byte) []byte { b[25] = 1; return sum(b) },
		"odd segments":     func(b []byte) []byte { b[24]++; return sum(b) },
		"segments go over": func(b []byte) []byte { copy(b[24:32], "\x00\x00\x00\x80\xfe\xff\xff\xff"); return sum(b) },
	} {
		if _, err := parseFilter(change(bytes.Clone(blob))); !errors.Is(err, errFilter) {
			t.Errorf("%s: %v, want errFilter", name, err)
		}
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, n := range []int{0, 1, 50} {
		f.Add(makeFilter(f, n).marshal(), uint64(n))
	}
	f.Fuzz(func(_ *testing.T, blob []byte, ring uint64) {
		if len(blob) >= filterSum { // otherwise no blob would get past its sum
			blob = binary.LittleEndian.AppendUint64(blob[:len(blob)-filterSum], xxhash.Sum64(blob[:len(blob)-filterSum]))
		}
		if got, err := parseFilter(blob); err == nil {
			got.lacks(keyAt(ring))
		}
	})
}

// The least recently used filters are evicted when there is no room.
func TestShelf(t *testing.T) {
	t.Parallel()
	f := makeFilter(t, 1000)
	var s filterCache
	now := time.Now()
	c := func(i int) ID { return ID{Index: uint32(i)} }
	load := func(i int, want bool) {
		t.Helper()
		if got := s.begin(c(i), now); got != want {
			t.Errorf("begin of %d: %v", i, got)
		}
		if s.begin(c(i), now) {
			t.Errorf("begin of %d twice", i)
		}
		s.put(c(i), f, 3*f.size())
	}
	has := func(want ...bool) {
		t.Helper()
		for i, want := range want {
			s.mu.RLock()
			e := s.filters[c(i)]
			got := e != nil && e.filter != nil
			s.mu.RUnlock()
			if got != want {
				t.Errorf("filter %d is there: %v, want %v", i, got, want)
			}
		}
	}
	for i := range 3 {
		load(i, true)
	}
	if s.get(c(0)) != f || s.get(c(9)) != nil {
		t.Error("get")
	}
	load(3, true)
	has(true, false, true, true)
	if s.begin(c(1), now) {
		t.Error("what had no room is asked for at once")
	}
	if now = now.Add(filterPause); !s.begin(c(1), now) {
		t.Error("what had no room is never asked for again")
	}
	if s.get(c(2)) == nil || s.get(c(0)) == nil {
		t.Error("what is used is gone")
	}
	s.put(c(1), f, 3*f.size())
	has(true, true, true, false)
	s.forget(c(0))
	load(0, true)
	s.put(c(5), makeFilter(t, 10_000), 3*f.size()) // without begin
	if s.begin(c(6), now) {
		s.put(c(6), makeFilter(t, 10_000), 3*f.size()) // larger than the cache
	}
	has(true, true, true, false, false, false, false)
	if s.size != 3*f.size() {
		t.Errorf("size %d, want %d", s.size, 3*f.size())
	}
}

func BenchmarkFilter(b *testing.B) {
	const n = 1_000_000
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			makeFilter(b, n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
	})
	b.Run("lacks", func(b *testing.B) {
		f, r := makeFilter(b, n), rand.New(rand.NewPCG(5, 6))
		for b.Loop() {
			f.lacks(keyAt(r.Uint64()))
		}
	})
}
