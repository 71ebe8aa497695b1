// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"testing"

	"github.com/locus-db/locus/locality"
)

// rubyAccepts are the texts that the Ruby class accepts as IDs and this package does not, with Ruby's result: it looks
// for a line of the right shape, with any letter as a digit, and also decodes the text around it.
var rubyAccepts = map[string]string{
	sample + "\n":                          sample, // and a 17th byte
	sample + "\njunk":                      sample, // and three more bytes
	"junk\n" + sample:                      "3e74a20b-e0ff-c314-abd5-37a50013a65c",
	sample[:35] + "g":                      sample[:35] + "0",
	sample[:35] + "G":                      sample[:35] + "0",
	"00000000-0000-0000-0000-00000000000h": "00000000-0000-0000-0000-000000000001",
	"zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz": "33333333-3333-3333-3333-333333333333",
}

func TestVectors_RubyDecode(t *testing.T) {
	t.Parallel()
	type line struct {
		Input   *string
		JavaOK  bool    `json:"java_ok"`
		Java    *string `json:"java_canonical"`
		OK      bool
		Bytes   string
		Text    string `json:"to_s"`
		Version string
		PID     any    `json:"pid"`
		Mac     string `json:"mac"`
		Millis  int64  `json:"timestamp_ms"`
	}
	differ := 0
	for i, v := range vectors[line](t, "ruby_decode.jsonl", 194) {
		if v.Input == nil {
			differ++ // no text: Ruby mints an ID
			continue
		}
		id, err := locality.Parse(*v.Input)
		if made, known := rubyAccepts[*v.Input]; known {
			differ++
			if err != locality.ErrMalformed || !v.OK || v.Text != made {
				t.Errorf("line %d: Parse(%q): %v, want ErrMalformed; Ruby makes %s of it, listed as %s", i+1, *v.Input, err,
					v.Text, made)
			}
			continue
		}
		if (err == nil) != v.OK {
			t.Errorf("line %d: Parse(%q): %v, Ruby takes it: %v", i+1, *v.Input, err, v.OK)
		}
		if lenient, err := locality.ParseLenient(*v.Input); v.JavaOK && (err != nil || lenient.String() != *v.Java) {
			t.Errorf("line %d: ParseLenient(%q) = %v, %v, Java makes %s", i+1, *v.Input, lenient, err, *v.Java)
		}
		if !v.OK || err != nil {
			continue
		}
		if hex.EncodeToString(id[:]) != v.Bytes || id.String() != v.Text ||
			strconv.FormatInt(int64(id.Version()), 16) != v.Version {
			t.Errorf("line %d: %v of version %x, want %s of version %s", i+1, id, id.Version(), v.Text, v.Version)
		}
		pid, isB := id.PID()
		if want, ok := v.PID.(float64); ok != isB || isB && float64(pid) != want {
			t.Errorf("line %d: process %d, %v, want %v", i+1, pid, isB, v.PID)
		}
		if node, _ := id.Node(); fmt.Sprintf("_____%07x", node) != v.Mac || id.Millis() != v.Millis {
			t.Errorf("line %d: node %07x ms %d, want %s %d", i+1, node, id.Millis(), v.Mac, v.Millis)
		}
	}
	// Two texts occur in two lines each, and one line has no text.
	if differ != 9 {
		t.Errorf("%d lines differ, want 9", differ)
	}
}

func TestVectors_RubyVariable(t *testing.T) {
	t.Parallel()
	type line struct {
		Prev, Counter uint32
		Ruby          string `json:"ruby_w"`
		Java          string `json:"java_w"`
		Spec          string `json:"nibble_reversed_w"`
	}
	wraps := 0
	for i, v := range vectors[line](t, "ruby_variable.jsonl", 100) {
		id := positionAfter(t, v.Prev)
		if got := fmt.Sprintf("%08x", id.Position()); got != v.Spec {
			t.Errorf("line %d: position %s, want %s", i+1, got, v.Spec)
		}
		// Ruby counts modulo 2^32-1: one ahead after a wrap.
		const modulus = 1<<32 - 1
		sum := uint64(v.Prev) + uint64(locality.Step)
		if sum >= modulus {
			wraps++
		}
		if ruby := uint32(sum % modulus); ruby != v.Counter || fmt.Sprintf("%08x", reverse(ruby)) != v.Ruby ||
			ruby-id.Counter() != uint32(sum/modulus) {
			t.Errorf("line %d: the oracle gives %d, Ruby %d and %s, this package %d", i+1, ruby, v.Counter, v.Ruby, id.Counter())
		}
		if got := fmt.Sprintf("%08x", javaPosition(id.Counter())); got != v.Java {
			t.Errorf("line %d: the oracle gives %s, Java %s", i+1, got, v.Java)
		}
	}
	if wraps != 36 {
		t.Errorf("%d counters wrap, want 36", wraps)
	}
}

func TestVectors_RubySequential(t *testing.T) {
	t.Parallel()
	type line struct {
		Millis int64    `json:"ms"`
		Start  int32    `json:"start_signed"`
		First  []string `json:"first_w"`
		Ruby   int64    `json:"id_timestamp_ms"`
		Error  int64    `json:"ms_error"`
	}
	early := 0
	for i, v := range vectors[line](t, "ruby_sequential.jsonl", 50) {
		g := generator(t, &locality.Options{Order: locality.Sequential, Now: at(v.Millis)})
		for n, want := range v.First {
			id := g.New()
			if got := fmt.Sprintf("%08x", id.Position()); got != want || id.Position() != uint32(v.Start)+1+uint32(n) {
				t.Errorf("line %d: id %d at %s, want %s", i+1, n+1, got, want)
			}
			if id.Millis() != v.Millis || v.Ruby != v.Millis+v.Error {
				t.Errorf("line %d: minted at %d, Ruby %d, want %d", i+1, id.Millis(), v.Ruby, v.Millis)
			}
		}
		if v.Error != 0 {
			early++
		}
	}
	// Ruby computes with floats: 1 ms low now and then.
	if early != 6 {
		t.Errorf("Ruby is early in %d lines, want 6", early)
	}
}

func TestVectors_RubySequentialWrap(t *testing.T) {
	t.Parallel()
	type line struct {
		Prev, Counter int64
		Ruby          string `json:"ruby_w"`
	}
	g := generator(t, &locality.Options{Order: locality.Sequential, Now: at(0)})
	for i, v := range vectors[line](t, "ruby_sequential_wrap.jsonl", 9) {
		g.SetCounter(uint32(v.Prev))
		want := v.Ruby
		if v.Prev == 1<<32-2 {
			want = "ffffffff" // Ruby skips it, counting modulo 2^32-1, unless it began below 0
		}
		if got := fmt.Sprintf("%08x", g.New().Position()); got != want {
			t.Errorf("line %d: %s follows %d, want %s", i+1, got, v.Prev, want)
		}
	}
}
