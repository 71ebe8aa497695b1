// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"database/sql"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"flag"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/locality"
)

const sample = "20be0ffc-314a-bd53-7a50-013a65ca76d2"

var (
	_ encoding.TextAppender      = locality.ID{}
	_ encoding.TextMarshaler     = locality.ID{}
	_ encoding.TextUnmarshaler   = (*locality.ID)(nil)
	_ encoding.BinaryAppender    = locality.ID{}
	_ encoding.BinaryMarshaler   = locality.ID{}
	_ encoding.BinaryUnmarshaler = (*locality.ID)(nil)
	_ sql.Scanner                = (*locality.ID)(nil)
)

// ids draws any 128 bits.
func ids() *rapid.Generator[locality.ID] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) locality.ID { return locality.ID(b) })
}

// wellFormed is the naive parser that the fast one is compared with.
var wellFormed = regexp.MustCompile(`\A[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\z`)

func naiveParse(s string) (id locality.ID, ok bool) {
	if !wellFormed.MatchString(s) {
		return id, false
	}
	_, _ = hex.Decode(id[:], []byte(strings.ReplaceAll(s, "-", "")))
	return id, true
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{sample, strings.ToUpper(sample), "", sample + "0", " " + sample[1:], strings.Repeat("-", 36), sample[:35] + "g", sample[:35] + "\xb2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, ok := naiveParse(s)
		id, err := locality.Parse(s)
		if (err == nil) != ok || id != want {
			t.Fatalf("Parse(%q) = %v, %v; the naive parser says %v, %v", s, id, err, want, ok)
		}
		if b, err := locality.ParseBytes([]byte(s)); (err == nil) != ok || b != id {
			t.Fatalf("ParseBytes(%q) = %v, %v, Parse %v", s, b, err, id)
		}
		if ok && id.String() != strings.ToLower(s) {
			t.Fatalf("String of Parse(%q) = %s", s, id)
		}
		scanned := locality.Max()
		if err := scanned.Scan([]byte(s)); err != nil && scanned != locality.Max() {
			t.Fatalf("Scan(%q) failed and left %v", s, scanned)
		}
	})
}

func TestParse_EveryByteAtEveryPlace(t *testing.T) {
	t.Parallel()
	for i := range len(sample) {
		for c := range 256 {
			b := []byte(sample)
			b[i] = byte(c)
			want, ok := naiveParse(string(b))
			if id, err := locality.ParseBytes(b); (err == nil) != ok || id != want {
				t.Fatalf("ParseBytes(%q) = %v, %v, want %v, %v", b, id, err, want, ok)
			}
		}
	}
}

func TestMustParse_Panics(t *testing.T) {
	t.Parallel()
	if locality.MustParse(sample).String() != sample {
		t.Error("MustParse does not parse")
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse of nonsense did not panic")
		}
	}()
	locality.MustParse("nonsense")
}

func TestCodecs_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := ids().Draw(t, "id")
		text, err := id.MarshalText()
		if err != nil || string(text) != id.String() {
			t.Fatalf("MarshalText = %q, %v", text, err)
		}
		binary, err := id.MarshalBinary()
		if err != nil || string(binary) != string(id[:]) {
			t.Fatalf("MarshalBinary = %x, %v", binary, err)
		}
		value, err := id.Value()
		if err != nil || value != id.String() {
			t.Fatalf("Value = %v, %v", value, err)
		}
		var fromText, fromBinary, scanned, scannedBytes, scannedRaw locality.ID
		for _, err := range []error{
			fromText.UnmarshalText(text), fromBinary.UnmarshalBinary(binary),
			scanned.Scan(value), scannedBytes.Scan(text), scannedRaw.Scan(binary),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for i, got := range []locality.ID{fromText, fromBinary, scanned, scannedBytes, scannedRaw} {
			if got != id {
				t.Fatalf("reader %d made %v of %v", i, got, id)
			}
		}
		other := ids().Draw(t, "other")
		if got, want := id.Compare(other), strings.Compare(id.String(), other.String()); got != want {
			t.Fatalf("Compare = %d, of the texts %d", got, want)
		}
	})
}

func TestID_JSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		ID   locality.ID         `json:"id"`
		None locality.ID         `json:"none,omitzero"`
		Map  map[locality.ID]int `json:"map"`
	}
	id := locality.MustParse(sample)
	text, err := json.Marshal(doc{ID: id, Map: map[locality.ID]int{id: 1}})
	if want := `{"id":"` + sample + `","map":{"` + sample + `":1}}`; err != nil || string(text) != want {
		t.Fatalf("Marshal = %s, %v, want %s", text, err, want)
	}
	var back doc
	if err := json.Unmarshal(text, &back); err != nil || back.ID != id || back.Map[id] != 1 {
		t.Fatalf("Unmarshal = %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"id":""}`), &back); err == nil || back.ID != id {
		t.Fatalf("an empty text: %v, left %v", err, back.ID)
	}
}

func TestID_Flag(t *testing.T) {
	t.Parallel()
	var id locality.ID
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.TextVar(&id, "id", locality.Nil(), "an id")
	if err := fs.Parse([]string{"-id", sample}); err != nil || id.String() != sample {
		t.Fatalf("flag gave %v, %v", id, err)
	}
}

func TestScan_Refuses(t *testing.T) {
	t.Parallel()
	id := locality.MustParse(sample)
	for _, src := range []any{"", []byte{}, sample[1:], make([]byte, 15), make([]byte, 17), 7, int64(7), "0123456789abcdef"} {
		if err := id.Scan(src); err == nil || id.String() != sample {
			t.Errorf("Scan(%#v) = %v, left %v", src, err, id)
		}
	}
	if err := id.Scan(nil); err != nil || !id.IsZero() {
		t.Errorf("Scan(nil) = %v, left %v, want Nil()", err, id)
	}
}

func TestUnmarshal_LeavesIDAfterError(t *testing.T) {
	t.Parallel()
	id := locality.MustParse(sample)
	if err := id.UnmarshalText([]byte("x")); err == nil || id.String() != sample {
		t.Errorf("UnmarshalText: %v, left %v", err, id)
	}
	if err := id.UnmarshalBinary([]byte("x")); err == nil || id.String() != sample {
		t.Errorf("UnmarshalBinary: %v, left %v", err, id)
	}
}

func TestNilMax(t *testing.T) {
	t.Parallel()
	if got := locality.Nil().String(); got != "00000000-0000-0000-0000-000000000000" || !locality.Nil().IsZero() {
		t.Errorf("Nil() = %s", got)
	}
	if got := locality.Max().String(); got != "ffffffff-ffff-ffff-ffff-ffffffffffff" || locality.Max().IsZero() {
		t.Errorf("Max() = %s", got)
	}
	if locality.Nil().Compare(locality.Max()) != -1 || locality.Max().Compare(locality.Nil()) != 1 {
		t.Error("Nil() does not sort before Max()")
	}
}

// TestID_Allocations does not run in parallel: it counts.
func TestID_Allocations(t *testing.T) {
	id, text, buf := locality.MustParse(sample), []byte(sample), make([]byte, 0, 64)
	var sink int
	for name, fn := range map[string]func(){
		"Parse":       func() { id, _ = locality.Parse(sample) },
		"ParseBytes":  func() { id, _ = locality.ParseBytes(text) },
		"Parse fails": func() { _, _ = locality.Parse("nonsense") },
		"AppendText":  func() { _, _ = id.AppendText(buf) },
		"String":      func() { sink += len(id.String()) },
	} {
		if n := testing.AllocsPerRun(100, fn); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}
