// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/locality"
)

var (
	_ driver.Valuer    = locality.ID{}
	_ sql.Scanner      = (*locality.ID)(nil)
	_ driver.Valuer    = locality.NullID{}
	_ sql.Scanner      = (*locality.NullID)(nil)
	_ json.Marshaler   = locality.NullID{}
	_ json.Unmarshaler = (*locality.NullID)(nil)
)

// some returns a NullID with the ID of a text.
func some(text string) locality.NullID {
	return locality.NullID{ID: locality.MustParse(text), Valid: true}
}

func TestSQL_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := ids().Draw(t, "id")
		value, err := id.Value()
		if err != nil || value != id.String() {
			t.Fatalf("Value = %v, %v", value, err)
		}
		if null, err := (locality.NullID{ID: id, Valid: true}).Value(); err != nil || null != value {
			t.Fatalf("NullID.Value = %v, %v, want %v", null, err, value)
		}
		for _, src := range []any{value, []byte(id.String()), id[:]} {
			var scanned locality.ID
			var null locality.NullID
			if err := errors.Join(scanned.Scan(src), null.Scan(src)); err != nil {
				t.Fatal(err)
			}
			if scanned != id || null != (locality.NullID{ID: id, Valid: true}) {
				t.Fatalf("Scan(%#v) made %v and %v of %v", src, scanned, null, id)
			}
		}
	})
}

func TestScan_Refuses(t *testing.T) {
	t.Parallel()
	for _, src := range []any{"", []byte{}, sample[1:], make([]byte, 15), make([]byte, 17), 7, int64(7), true, "0123456789abcdef", "{" + sample + "}"} {
		id, null := locality.MustParse(sample), some(sample)
		if err := id.Scan(src); !errors.Is(err, locality.ErrMalformed) || id.String() != sample {
			t.Errorf("Scan(%#v) = %v, left %v", src, err, id)
		}
		if src == "" {
			continue
		}
		if b, ok := src.([]byte); ok && len(b) == 0 {
			continue
		}
		if err := null.Scan(src); !errors.Is(err, locality.ErrMalformed) || null != some(sample) {
			t.Errorf("NullID.Scan(%#v) = %v, left %v", src, err, null)
		}
	}
}

func TestScan_Null(t *testing.T) {
	t.Parallel()
	id := locality.MustParse(sample)
	if err := id.Scan(nil); err != nil || !id.IsZero() {
		t.Errorf("Scan(nil) = %v, left %v, want Nil()", err, id)
	}
	for _, src := range []any{nil, "", []byte{}, []byte(nil)} {
		null := some(sample)
		if err := null.Scan(src); err != nil || null != (locality.NullID{}) {
			t.Errorf("NullID.Scan(%#v) = %v, left %+v", src, err, null)
		}
	}
	if value, err := (locality.NullID{ID: id}).Value(); value != nil || err != nil {
		t.Errorf("Value of none = %v, %v, want NULL", value, err)
	}
}

func TestNullID_JSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		ID      locality.NullID `json:"id"`
		Omitted locality.NullID `json:"omitted,omitzero"`
	}
	for text, want := range map[string]locality.NullID{
		`{"id":"` + sample + `"}`: some(sample),
		`{"id":null}`:             {},
	} {
		got := doc{ID: some("ffffffff-0000-b000-0000-000000000000")}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.ID != want {
			t.Errorf("Unmarshal(%s) = %v, made %+v", text, err, got.ID)
		}
		if back, err := json.Marshal(got); err != nil || string(back) != text {
			t.Errorf("Marshal = %s, %v, want %s", back, err, text)
		}
	}
	for text, want := range map[string]locality.NullID{
		`""`:                         {}, // an empty form field
		`"\u0032` + sample[1:] + `"`: some(sample),
	} {
		got := some("ffffffff-0000-b000-0000-000000000000")
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("Unmarshal(%s) = %v, made %+v", text, err, got)
		}
	}
	for _, text := range []string{`7`, `{}`, `"x"`, `"` + sample + ` "`, `[]`, `true`} {
		got := some(sample)
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != some(sample) {
			t.Errorf("Unmarshal(%s) = %v, left %+v", text, err, got)
		}
	}
}

// FuzzScan scans every kind of column with any content.
func FuzzScan(f *testing.F) {
	for _, s := range []string{sample, "", "0123456789abcdef", sample[1:], sample + " "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, src := range []any{b, string(b)} {
			id, null := locality.Max(), some(sample)
			want, ok := naiveParse(string(b))
			if _, isBytes := src.([]byte); isBytes && len(b) == 16 {
				want, ok = locality.ID(b), true
			}
			if err := id.Scan(src); (err == nil) != ok || ok && id != want || !ok && id != locality.Max() {
				t.Fatalf("Scan(%#v) = %v, left %v", src, err, id)
			}
			err := null.Scan(src)
			switch {
			case len(b) == 0:
				ok = err == nil && null == locality.NullID{}
			case ok:
				ok = err == nil && null == locality.NullID{ID: want, Valid: true}
			default:
				ok = err != nil && null == some(sample)
			}
			if !ok {
				t.Fatalf("NullID.Scan(%#v) = %v, left %+v", src, err, null)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`"` + sample + `"`, `null`, `""`, `7`, `"x"`, ` "\u0032` + sample[1:] + `" `, `"`, `{"a":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		id, null := locality.Max(), some(sample)
		errID, errNull := json.Unmarshal(b, &id), json.Unmarshal(b, &null)
		if errID != nil && id != locality.Max() || errNull != nil && null != some(sample) {
			t.Fatalf("Unmarshal(%q) = %v and %v, left %v and %+v", b, errID, errNull, id, null)
		}
		// A NullID reads everything that an ID reads; but null leaves an ID unchanged.
		if errID == nil && null.Valid && null.ID != id || errID == nil && errNull != nil {
			t.Fatalf("Unmarshal(%q) made %v, and %+v, %v", b, id, null, errNull)
		}
		// The method alone, as other packages call it, must not panic either.
		direct := some(sample)
		if err := direct.UnmarshalJSON(b); err != nil && direct != some(sample) || err == nil && direct != null {
			t.Fatalf("UnmarshalJSON(%q) = %v, left %+v, want %+v", b, err, direct, null)
		}
	})
}
