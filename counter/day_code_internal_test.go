// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func poisson(rng *rand.Rand, mean float64) int64 {
	if mean > 500 {
		return max(0, int64(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	n, p := int64(-1), 1.0
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= rng.Float64()
	}
	return n
}

func encodeAndBack(t testing.TB, kind Kind, detail Detail, values []int64) CompactedDay {
	t.Helper()
	c, err := encodeDay(NewBucketKey(20000, 7), kind, detail, values)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeDay(&c, kind); err != nil || !slices.Equal(got, values) {
		t.Fatalf("%v of detail %d: %v, %v, want %v", kind, detail, got, err, values)
	}
	return c
}

// The buckets of a day have 11,720 bytes. The goals are a fifth of that for any traffic, and a twentieth for a hit a
// minute. Random values of 12 bits have at least 2,160 bytes in any encoding, and values of 20 bits 3,600.
func TestDayCode_Sizes(t *testing.T) {
	t.Parallel()
	const buckets = 11_720
	rng := rand.New(rand.NewPCG(6, 1))
	wave := func(mean float64) func(int) int64 {
		return func(i int) int64 {
			return poisson(rng, mean*(1.2-math.Cos(2*math.Pi*float64(i)/dayMinutes)))
		}
	}
	level := func(mean float64) func(int) int64 { return func(int) int64 { return poisson(rng, mean) } }
	for _, tt := range []struct {
		what   string
		minute func(i int) int64
		most   int
	}{
		{"one hit", func(i int) int64 { return int64(i / (dayMinutes - 1)) }, 30},
		{"one in 100 minutes", level(.01), buckets / 150},
		{"exactly one a minute", func(int) int64 { return 1 }, buckets / 500},
		{"one a minute", level(1), buckets / 20},
		{"10 a minute", level(10), buckets / 14},
		{"1,000 a minute", level(1000), buckets / 7},
		{"100,000 a minute", level(1e5), buckets / 5},
		{"a million a minute", level(1e6), buckets / 5},
		{"10 a minute, by day", wave(10), buckets / 14},
		{"1,000 a minute, by day", wave(1000), buckets / 7},
		{"100,000 a minute, by day", wave(1e5), buckets / 5},
		{"a minute a day", func(i int) int64 { return MaxN * int64(i&1) * int64(i/(dayMinutes-1)) }, 40},
		{"random up to 4,095", func(int) int64 { return rng.Int64N(1 << 12) }, buckets / 5},
		{"random up to 2^20", func(int) int64 { return rng.Int64N(1 << 20) }, buckets / 3},
	} {
		values := make([]int64, dayMinutes)
		for i := range values {
			values[i] = tt.minute(i)
		}
		c := encodeAndBack(t, Counter, Minutes, values)
		t.Logf("%-26s %5d bytes, 1/%.1f", tt.what, len(c.Body), buckets/float64(len(c.Body)))
		if len(c.Body) > tt.most {
			t.Errorf("%s: %d bytes, %d are the most", tt.what, len(c.Body), tt.most)
		}
	}
}

// Values of any size survive a round trip.
func TestDayCode_ComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		detail := rapid.SampledFrom([]Detail{NoDetail, Quarters, Minutes}).Draw(t, "detail")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		size := rapid.IntRange(0, 50).Draw(t, "bits")
		rare := rapid.IntRange(1, 50).Draw(t, "one in")
		n := func() int64 {
			if rng.IntN(rare) > 0 {
				return 0
			}
			return int64(rng.Uint64() >> (63 - rng.IntN(size+1)))
		}
		counts, readings := make([]int64, detail.length()), make([]int64, detail.length()*Reading)
		for i := range counts {
			counts[i] = n()
			var r reading
			for range n() % 4 {
				v := n()
				v -= n()
				if err := r.join([]int64{v, v, v, 1, v}); err != nil {
					t.Fatal(err)
				}
			}
			copy(readings[i*Reading:], r[:])
		}
		if detail == NoDetail && readings[ReadingCount] == 0 {
			readings[ReadingCount] = 1
		}
		for kind, values := range map[Kind][]int64{Counter: counts, Gauge: readings} {
			c, err := encodeDay(1, kind, detail, values)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decodeDay(&c, kind); err != nil || !slices.Equal(got, values) {
				t.Fatalf("%v: %v", kind, err)
			}
		}
	})
}

func TestDayCode_Extremes(t *testing.T) {
	t.Parallel()
	most := make([]int64, dayMinutes)
	most[700] = math.MaxInt64
	encodeAndBack(t, Counter, Minutes, most)
	most[701] = 1
	if _, err := encodeDay(1, Counter, Minutes, most); !errors.Is(err, ErrOverflow) {
		t.Errorf("%v, want ErrOverflow", err)
	}
	readings := make([]int64, dayMinutes*Reading)
	copy(readings, []int64{-MaxReading, MaxReading, 0, 2, MaxReading})
	copy(readings[1439*Reading:], []int64{math.MinInt64 + 1, math.MinInt64 + 1, math.MinInt64 + 1, 1, math.MinInt64 + 1})
	encodeAndBack(t, Gauge, Minutes, readings)
	copy(readings[Reading:], []int64{-5, -5, -5, 1, -5})
	if _, err := encodeDay(1, Gauge, Minutes, readings); !errors.Is(err, ErrOverflow) {
		t.Errorf("%v, want ErrOverflow", err)
	}
}

// A row with changed bits, or under another key, is refused.
func TestDayCode_DamageIsFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 2))
	values := make([]int64, dayMinutes)
	for i := range values {
		values[i] = poisson(rng, 3)
	}
	whole := encodeAndBack(t, Counter, Minutes, values)
	for bit := range len(whole.Body) * 8 {
		c := whole
		c.Body = slices.Clone(whole.Body)
		c.Body[bit/8] ^= 1 << (bit % 8)
		if _, err := decodeDay(&c, Counter); !errors.Is(err, ErrDamaged) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	for what, change := range map[string]func(*CompactedDay){
		"another key":    func(c *CompactedDay) { c.Key++ },
		"another total":  func(c *CompactedDay) { c.N++ },
		"another detail": func(c *CompactedDay) { c.Detail = Quarters },
		"cut off":        func(c *CompactedDay) { c.Body = c.Body[:len(c.Body)-1] },
		"empty":          func(c *CompactedDay) { c.Body = nil },
	} {
		c := whole
		change(&c)
		if _, err := decodeDay(&c, Counter); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := decodeDay(&whole, Gauge); !errors.Is(err, ErrDamaged) {
		t.Errorf("a counter as a gauge: %v", err)
	}
}

// Any bytes are refused or read, and the values read add up to the stored total.
func FuzzUnpack(f *testing.F) {
	for _, detail := range []Detail{Quarters, Minutes} {
		values := make([]int64, detail.length())
		values[5], values[90] = 3, 1<<40
		c, _ := encodeDay(1, Counter, detail, values)
		f.Add(false, byte(detail), c.N, c.Body[4:])
		values = make([]int64, detail.length()*Reading)
		copy(values[10:], []int64{-3, 4, 5, 6, 1})
		c, _ = encodeDay(1, Gauge, detail, values)
		f.Add(true, byte(detail), c.N, c.Body[4:])
	}
	f.Fuzz(func(t *testing.T, gauge bool, detail byte, n int64, rest []byte) {
		c := CompactedDay{Key: 1, N: n, Detail: Detail(detail % 3), Body: append(make([]byte, 4), rest...)}
		kind := Counter
		if gauge {
			kind = Gauge
		}
		if len(rest) > 0 {
			c.seal() // with a valid checksum
		}
		values, err := decodeDay(&c, kind)
		if err != nil {
			return
		}
		if kind == Counter {
			var sum int64
			for _, v := range values {
				sum += v
			}
			if sum != n || len(values) != c.Detail.length() {
				t.Fatalf("%d values add up to %d, not %d", len(values), sum, n)
			}
			return
		}
		day, err := dayReading(&c)
		if err != nil || len(values) != c.Detail.length()*Reading {
			t.Fatalf("%d values, %v", len(values), err)
		}
		var sum reading
		if err := sum.fold(values); c.Detail != NoDetail && (err != nil || sum != day) {
			t.Fatalf("the day is %v, its parts are %v", day, sum)
		}
	})
}

// Decoders do not read beyond their bytes.
func TestDecode_Short(t *testing.T) {
	t.Parallel()
	column := make([]int64, 96)
	for i := range column {
		column[i] = int64(i*i) << (i % 40)
	}
	whole := encode(nil, column)
	for n := range whole {
		if _, _, ok := decode(whole[:n], 96); ok {
			t.Errorf("%d of %d bytes were enough", n, len(whole))
		}
	}
	got, rest, ok := decode(append(whole, "next"...), 96)
	if !ok || !slices.Equal(got, column) || string(rest) != "next" {
		t.Errorf("%v, %q, %v", got, rest, ok)
	}
}

func BenchmarkPack(b *testing.B) {
	rng := rand.New(rand.NewPCG(6, 1))
	values := make([]int64, dayMinutes)
	for i := range values {
		values[i] = poisson(rng, 1000)
	}
	c := encodeAndBack(b, Counter, Minutes, values)
	if binary.BigEndian.Uint32(c.Body) != c.check() {
		b.Fatal("the checksum is wrong")
	}
	b.Run("pack", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := encodeDay(1, Counter, Minutes, values); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unpack", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decodeDay(&c, Counter); err != nil {
				b.Fatal(err)
			}
		}
	})
}
