// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var decoded = []Column{{Name: "source"}, {Name: "phones", Many: true}, {Name: "no", Type: Int}, {Name: "share", Type: Float}}

// read returns the row of a line as JSON in general is read, copied.
func read(d *Decoder, line []byte) (Row, error) {
	d.clear()
	err := d.any(bytes.TrimSpace(line))
	return copied(d.row), err
}

func copied(row Row) Row {
	row = slices.Clone(row)
	for i := range row {
		row[i] = slices.Clone(row[i])
	}
	return row
}

func sameAsOtherJSON(t rapid.TB, line []byte) {
	d := NewDecoder(decoded)
	want, wantErr := read(d, line)
	got, err := d.Decode(line)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: %v, want %v", line, err, wantErr)
	}
	if diff := cmp.Diff(want, copied(got)); err == nil && diff != "" {
		t.Fatalf("%q: (-want +got)\n%s", line, diff)
	}
}

// A line is read as any other JSON is, whether or not it is written as a writer writes it, and also if it is damaged.
func TestDecoder_ReadsLinesLikeOtherJSON(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"source":"a","source":"b"}`, `{"no":1,"no":2}`, `{"no":1,"source":"a"}`, `{"source":"a","other":1}`, `{"no":01}`, `{"no":-}`,
		`{"phones":["a","b"]}`, `{"phones":[]}`, `{"phones":["a",]}`, `{"phones":["a"}`, `{"phones":["a"]`, `{"no":1`, `{}`, `{`, ``, `[]`,
		`{"source":"a"}}`, `{"source":"a"},`, `{"source":"a" }`, ` {"source":"a"} `, `{"source":null}`, `{"source":{"a":1}}`, `{"sou\u0072ce":"a"}`,
		`{"source":"\ud800"}`, "{\"source\":\"\xff\"}", "{\"source\":\"\x01\"}",
	} {
		sameAsOtherJSON(t, []byte(line))
	}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "é", `"`, `\`, "a\nb", "\x01", "]", "}", ",", "0", " "}))
	rapid.Check(t, func(t *rapid.T) {
		var row Row
		for _, c := range decoded {
			switch most := 1; {
			case c.Type == Int:
				row = append(row, rapid.SampledFrom([][]string{nil, {"0"}, {"-7"}, {"9223372036854775807"}}).Draw(t, c.Name))
			case c.Type == Float:
				row = append(row, rapid.SampledFrom([][]string{nil, {"1"}, {"-1.5e-7"}}).Draw(t, c.Name))
			default:
				if c.Many {
					most = 3
				}
				row = append(row, rapid.SliceOfN(text, 0, most).Draw(t, c.Name))
			}
		}
		var out bytes.Buffer
		w := newJSONL(&out, decoded)
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		line := out.Bytes()
		d := NewDecoder(decoded)
		if row[3] == nil && !d.written(string(bytes.TrimSpace(line))) {
			t.Fatalf("%s is not read as it is written", line)
		}
		if rapid.Bool().Draw(t, "damaged") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			bit := rapid.SampledFrom([]string{"", `"`, `\`, ",", "]", "}", "[", "0", "-", ":", "\xff", "\x00", `"no":1,`, `,"source":"x"`}).Draw(t, "bit")
			line = slices.Concat(line[:at], []byte(bit), line[at+rapid.IntRange(0, 1).Draw(t, "cut"):])
		}
		sameAsOtherJSON(t, line)
	})
}
