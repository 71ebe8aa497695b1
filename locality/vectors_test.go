// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"bufio"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/locality"
)

// vectors reads a file of testdata: one JSON object a line, produced by the reference classes in Java and Ruby; see
// testdata/README.md.
func vectors[T any](t *testing.T, name string, lines int) []T {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for s := bufio.NewScanner(f); s.Scan(); {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("%s, line %d: %v", name, len(all)+1, err)
		}
		all = append(all, v)
	}
	if len(all) != lines {
		t.Fatalf("%s has %d lines, want %d", name, len(all), lines)
	}
	return all
}

func javaTrim(s string) string { return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }) }

// javaPosition returns the position that the Java class makes of a counter: it shifts the top digit arithmetically, so
// that for the upper half of the counters the sign bits fill the 7th digit. It is only an oracle.
func javaPosition(c uint32) uint32 {
	r := bits.ReverseBytes32(c)
	r = r>>4&0x0f0f0f0f | r&0x0f0f0f0f<<4
	if c >= 1<<31 {
		r |= 0xf0
	}
	return r
}

func TestVectors_Decode(t *testing.T) {
	t.Parallel()
	type line struct {
		Via, Input, Canonical, Bytes, Version string
		PID                                   int     `json:"pid"`
		Millis                                *int64  `json:"timestamp_ms"`
		Mac                                   *string `json:"mac_fragment"`
		Valid                                 *bool   `json:"is_valid_raw"`
	}
	for i, v := range vectors[line](t, "decode.jsonl", 200) {
		raw, err := hex.DecodeString(v.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		id, err := locality.FromBytes(raw)
		if err != nil {
			t.Fatalf("line %d: FromBytes: %v", i+1, err)
		}
		if v.Via == "string" || v.Via == "java.util.UUID" {
			parsed, err := locality.Parse(javaTrim(v.Input))
			lenient, errLenient := locality.ParseLenient(v.Input)
			if err != nil || errLenient != nil || parsed != id || lenient != id {
				t.Errorf("line %d: Parse(%q) = %v, %v, ParseLenient %v, %v", i+1, v.Input, parsed, err, lenient, errLenient)
			}
		}
		if v.Valid != nil {
			if _, err := locality.Parse(v.Input); (err == nil) != *v.Valid {
				t.Errorf("line %d: Parse(%q): %v, want valid %v", i+1, v.Input, err, *v.Valid)
			}
		}
		if id.String() != v.Canonical {
			t.Errorf("line %d: String = %s, want %s", i+1, id, v.Canonical)
		}
		if got := strconv.FormatInt(int64(id.Version()), 16); got != v.Version {
			t.Errorf("line %d: Version = %s, want %s", i+1, got, v.Version)
		}
		pid, okPID := id.PID()
		node, okNode := id.Node()
		at, okTime := id.Time()
		isB := v.Version == "b"
		if okPID != isB || okNode != isB || okTime != isB {
			t.Errorf("line %d: PID, Node, Time say %v, %v, %v of version %s", i+1, okPID, okNode, okTime, v.Version)
		}
		if isB && (int(pid) != v.PID || fmt.Sprintf("%012x", node) != *v.Mac || at.UnixMilli() != *v.Millis) {
			t.Errorf("line %d: pid %d node %x ms %d, want %d %s %d", i+1, pid, node, at.UnixMilli(), v.PID, *v.Mac, *v.Millis)
		}
	}
}

func TestVectors_Invalid(t *testing.T) {
	t.Parallel()
	type line struct {
		Via   string
		Input *string
		OK    bool `json:"ok"`
	}
	for i, v := range vectors[line](t, "invalid.jsonl", 62) {
		var err error
		switch {
		case v.Input == nil:
			continue
		case v.Via == "bytes":
			var raw []byte
			if raw, err = hex.DecodeString(*v.Input); err != nil {
				t.Fatal(err)
			}
			_, err = locality.FromBytes(raw)
		default:
			_, err = locality.Parse(*v.Input)
		}
		// The reference accepts the last three lines only because it trims.
		if err != locality.ErrMalformed {
			t.Errorf("line %d: %q: %v, want ErrMalformed", i+1, *v.Input, err)
		}
		if v.OK {
			if _, err := locality.Parse(javaTrim(*v.Input)); err != nil {
				t.Errorf("line %d: %q trimmed: %v", i+1, *v.Input, err)
			}
			if _, err := locality.ParseLenient(*v.Input); err != nil {
				t.Errorf("line %d: ParseLenient(%q): %v", i+1, *v.Input, err)
			}
		}
	}
}

// positionAfter returns the ID that a generator mints after the given counter.
func positionAfter(t *testing.T, prev uint32) locality.ID {
	t.Helper()
	g, err := locality.NewGenerator(nil)
	if err != nil {
		t.Fatal(err)
	}
	g.SetCounter(prev)
	return g.New()
}

func TestVectors_Variable(t *testing.T) {
	t.Parallel()
	type line struct {
		Prev, Counter uint32
		Java          string `json:"java_w"`
		Spec          string `json:"nibble_reversed_w"`
		Same          bool   `json:"java_equals_reversed"`
	}
	differ := 0
	for i, v := range vectors[line](t, "variable.jsonl", 100) {
		id := positionAfter(t, v.Prev)
		if got := fmt.Sprintf("%08x", id.Position()); got != v.Spec || id.Counter() != v.Counter {
			t.Errorf("line %d: position %s of counter %d, want %s of %d", i+1, got, id.Counter(), v.Spec, v.Counter)
		}
		if got := fmt.Sprintf("%08x", javaPosition(v.Counter)); got != v.Java {
			t.Errorf("line %d: the oracle gives %s, Java %s", i+1, got, v.Java)
		}
		if !v.Same {
			differ++
		}
	}
	if differ != 29 {
		t.Errorf("%d positions of the Java class differ from its documentation, want 29", differ)
	}
}

func TestVectors_VariableChain(t *testing.T) {
	t.Parallel()
	type line struct {
		Start, N, Counter uint32
		Java              string `json:"java_w"`
	}
	g, err := locality.NewGenerator(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors[line](t, "variable_chain.jsonl", 64) {
		if v.N == 1 {
			g.SetCounter(v.Start)
		}
		if got := g.New().Counter(); got != v.Counter {
			t.Errorf("line %d: counter %d, want %d", i+1, got, v.Counter)
		}
		if got := fmt.Sprintf("%08x", javaPosition(v.Counter)); got != v.Java {
			t.Errorf("line %d: the oracle gives %s, Java %s", i+1, got, v.Java)
		}
	}
}

func TestVectors_Generate(t *testing.T) {
	t.Parallel()
	type line struct {
		Mode          string
		Prev, Counter uint32
		PID           int
		Mac           string
		Millis        int64  `json:"ms"`
		Spec          string `json:"spec_uuid"`
		Java          string `json:"java_uuid"`
	}
	differ := 0
	for i, v := range vectors[line](t, "generate.jsonl", 100) {
		mac, err := strconv.ParseUint(v.Mac, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		node := uint32(mac) & (1<<28 - 1)
		w, java := v.Counter, v.Counter
		if v.Mode == "variable" {
			w, java = reverse(w), javaPosition(java)
		}
		if id := locality.Assemble(w, uint16(v.PID), node, v.Millis); id.String() != v.Spec {
			t.Errorf("line %d: laid out as %s, want %s", i+1, id, v.Spec)
		}
		if id := locality.Assemble(java, uint16(v.PID), node, v.Millis); id.String() != v.Java {
			t.Errorf("line %d: the oracle gives %s, Java %s", i+1, id, v.Java)
		}
		if v.Java != v.Spec {
			differ++
		}
		if node >= 1<<27 {
			continue // the top bit marks near lanes
		}
		g, err := locality.NewGeneratorAs(&locality.Options{
			Order: map[string]locality.Order{"variable": locality.Variable, "sequential": locality.Sequential}[v.Mode],
			Node:  locality.FixedNode(node),
			Now:   func() time.Time { return time.UnixMilli(v.Millis) },
		}, func() int { return v.PID })
		if err != nil {
			t.Fatal(err)
		}
		g.SetCounter(v.Prev)
		if id := g.New(); id.String() != v.Spec {
			t.Errorf("line %d: minted %s, want %s", i+1, id, v.Spec)
		}
	}
	if differ != 27 {
		t.Errorf("%d ids of the Java class differ from its documentation, want 27", differ)
	}
}

func TestVectors_Sequential(t *testing.T) {
	t.Parallel()
	type line struct {
		Millis   int64 `json:"ms"`
		Key, MD5 string
		Start    uint32
		First    []string `json:"first_w"`
	}
	for i, v := range vectors[line](t, "sequential.jsonl", 50) {
		key := time.UnixMilli(v.Millis).UTC().Format("200601021504")[:11]
		sum := md5.Sum([]byte(key))
		if key != v.Key || hex.EncodeToString(sum[:]) != v.MD5 || binary.LittleEndian.Uint32(sum[:]) != v.Start {
			t.Errorf("line %d: key %s, %x, want %s, %s from %d", i+1, key, sum, v.Key, v.MD5, v.Start)
		}
		g := generator(t, &locality.Options{Order: locality.Sequential, Now: at(v.Millis)})
		if first := fmt.Sprintf("%08x", v.Start+1); first != v.First[0] {
			t.Errorf("line %d: the first id is at %s, want start+1, %s", i+1, v.First[0], first)
		}
		for n, want := range v.First {
			if got := fmt.Sprintf("%08x", g.New().Position()); got != want {
				t.Errorf("line %d: id %d at %s, want %s", i+1, n+1, got, want)
			}
		}
	}
}

func TestVectors_SequentialWrap(t *testing.T) {
	t.Parallel()
	type line struct {
		Prev uint32
		Java string `json:"java_w"`
	}
	g := generator(t, &locality.Options{Order: locality.Sequential, Now: at(0)})
	for i, v := range vectors[line](t, "sequential_wrap.jsonl", 6) {
		g.SetCounter(v.Prev)
		if got := fmt.Sprintf("%08x", g.New().Position()); got != v.Java {
			t.Errorf("line %d: %s follows %08x, want %s", i+1, got, v.Prev, v.Java)
		}
	}
}

// The Java class writes the window in the calendar and the digits of its machine's language; here it is always that of
// en-US, in UTC.
func TestVectors_SequentialLocale(t *testing.T) {
	t.Parallel()
	type line struct {
		Locale string
		Millis int64   `json:"ms"`
		Start  *string `json:"start_hex"`
	}
	all := vectors[line](t, "sequential_locale.jsonl", 8)
	base, err := strconv.ParseUint(*all[0].Start, 16, 32)
	if err != nil || all[0].Locale != "en-US" {
		t.Fatalf("line 1 is of %s: %v", all[0].Locale, err)
	}
	others := 0
	for i, v := range all {
		zone := time.FixedZone(v.Locale, (i-4)*3600)
		g := generator(t, &locality.Options{
			Order: locality.Sequential,
			Now:   func() time.Time { return time.UnixMilli(v.Millis).In(zone) },
		})
		if got := g.New().Position(); got != uint32(base)+1 {
			t.Errorf("line %d: first position %08x, want %08x", i+1, got, base+1)
		}
		if v.Start == nil || *v.Start != *all[0].Start {
			others++
		}
	}
	if others != 5 {
		t.Errorf("Java has another base or none in %d locales, want 5", others)
	}
}
