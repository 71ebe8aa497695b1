// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"encoding"
	"encoding/hex"
	"encoding/json"
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
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
		read := locality.Max()
		if err := read.UnmarshalText([]byte(s)); (err == nil) != ok || err != nil && read != locality.Max() || err == nil && read != want {
			t.Fatalf("UnmarshalText(%q): %v, left %v", s, err, read)
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

// naiveLenient is an independent form of ParseLenient's documentation.
var naiveLenient = regexp.MustCompile(`\A[\x00-\x20]*(?:((?i:urn:uuid:))|(\{))?([0-9a-fA-F]{8}(-?)[0-9a-fA-F]{4}(-?)[0-9a-fA-F]{4}(-?)[0-9a-fA-F]{4}(-?)[0-9a-fA-F]{12})(\})?[\x00-\x20]*\z`)

func naiveParseLenient(s string) (id locality.ID, ok bool) {
	m := naiveLenient.FindStringSubmatch(s)
	if m == nil || (m[2] == "") != (m[8] == "") || m[4] != m[5] || m[5] != m[6] || m[6] != m[7] {
		return id, false
	}
	_, _ = hex.Decode(id[:], []byte(strings.ReplaceAll(m[3], "-", "")))
	return id, true
}

// pasted are texts for ParseLenient, good and bad.
var pasted = func() []string {
	plain := strings.ReplaceAll(sample, "-", "")
	var all []string
	for _, id := range []string{sample, plain, sample[1:], plain[1:], sample + "0", plain + "0", plain[:31] + "g", sample[:9] + plain[8:], ""} {
		for _, around := range []string{
			"%", " %", "% ", "\x00\t%\r\n", "\u00a0%", "%\u2003", "\ufeff%",
			"{%}", " {%} ", "{ %}", "{{%}}", "{%", "%}", "(%)", "{}%", "}%{",
			"urn:uuid:%", "URN:Uuid:%", " urn:uuid:% ", "urn:uuid: %", "urn:uuid:{%}", "{urn:uuid:%}", "urn:uuid:urn:uuid:%",
			"urn:uuid%", "urn:%",
		} {
			all = append(all, strings.Replace(around, "%", id, 1))
		}
	}
	return all
}()

func TestParseLenient_TakesWhatIsDocumented(t *testing.T) {
	t.Parallel()
	taken := 0
	for _, s := range pasted {
		want, ok := naiveParseLenient(s)
		if id, err := locality.ParseLenient(s); (err == nil) != ok || id != want || err != nil && err != locality.ErrMalformed {
			t.Errorf("ParseLenient(%q) = %v, %v, want %v, %v", s, id, err, want, ok)
		}
		if ok {
			taken++
		}
	}
	// Two forms of an ID, and four, two and three ways to wrap it.
	if taken != 2*(4+2+3) {
		t.Errorf("%d of %d texts are taken, want 18", taken, len(pasted))
	}
}

func FuzzParseLenient(f *testing.F) {
	for _, s := range pasted {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, ok := naiveParseLenient(s)
		id, err := locality.ParseLenient(s)
		if (err == nil) != ok || id != want {
			t.Fatalf("ParseLenient(%q) = %v, %v; the naive parser says %v, %v", s, id, err, want, ok)
		}
		if strict, err := locality.Parse(s); err == nil && strict != id {
			t.Fatalf("ParseLenient(%q) = %v, Parse %v", s, id, strict)
		}
	})
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
		var fromText, fromBinary locality.ID
		if err := fromText.UnmarshalText(text); err != nil || fromText != id {
			t.Fatalf("UnmarshalText(%q) = %v, made %v", text, err, fromText)
		}
		if err := fromBinary.UnmarshalBinary(binary); err != nil || fromBinary != id {
			t.Fatalf("UnmarshalBinary(%x) = %v, made %v", binary, err, fromBinary)
		}
		if lenient, err := locality.ParseLenient("{" + strings.ToUpper(hex.EncodeToString(binary)) + "}"); err != nil || lenient != id {
			t.Fatalf("ParseLenient of 32 digits of %v = %v, %v", id, lenient, err)
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

// Other libraries' IDs of 16 bytes, such as those of Go 1.27's package uuid, are converted and not parsed.
func TestID_ConvertsToOtherLibraries(t *testing.T) {
	t.Parallel()
	id := locality.MustParse(sample)
	u := uuid.UUID(id)
	if u.String() != sample || locality.ID(u) != id {
		t.Errorf("google/uuid makes %v of %v, and that %v", u, id, locality.ID(u))
	}
}

// escaped makes its value escape from the stack; sunk keeps a result from being optimised away.
var (
	escaped string
	sunk    int
)

// TestID_Allocations does not run in parallel, because it counts allocations.
func TestID_Allocations(t *testing.T) {
	id, text, buf := locality.MustParse(sample), []byte(sample), make([]byte, 0, 64)
	plain := " {" + strings.ReplaceAll(sample, "-", "") + "} "
	var sink int
	tests := map[string]struct {
		want float64
		do   func()
	}{
		"Parse":              {0, func() { id, _ = locality.Parse(sample) }},
		"ParseBytes":         {0, func() { id, _ = locality.ParseBytes(text) }},
		"ParseLenient":       {0, func() { id, _ = locality.ParseLenient(plain) }},
		"Parse fails":        {0, func() { _, _ = locality.Parse("nonsense") }},
		"ParseLenient fails": {0, func() { _, _ = locality.ParseLenient(plain[:20]) }},
		"AppendText":         {0, func() { _, _ = id.AppendText(buf) }},
		"UnmarshalText":      {0, func() { _ = id.UnmarshalText(text) }},
		"String, local":      {0, func() { sink += len(id.String()) }},
		"String, escaping":   {1, func() { escaped = id.String() }},
	}
	for name, tc := range tests {
		if n := testing.AllocsPerRun(100, tc.do); n != tc.want {
			t.Errorf("%s: %v allocations, want %v", name, n, tc.want)
		}
	}
}

func BenchmarkID_String(b *testing.B) {
	id := locality.MustParse(sample)
	b.Run("local", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := id.String()
			sunk += int(s[35])
		}
	})
	b.Run("escaping", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			escaped = id.String()
		}
	})
}

func BenchmarkID_AppendText(b *testing.B) {
	id, buf := locality.MustParse(sample), make([]byte, 0, 36)
	for b.Loop() {
		buf, _ = id.AppendText(buf[:0])
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := locality.Parse(sample); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseLenient(b *testing.B) {
	text := " {" + strings.ReplaceAll(sample, "-", "") + "} "
	for b.Loop() {
		if _, err := locality.ParseLenient(text); err != nil {
			b.Fatal(err)
		}
	}
}
