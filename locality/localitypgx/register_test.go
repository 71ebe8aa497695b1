// SPDX-License-Identifier: Apache-2.0

package localitypgx_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/locality/localitypgx"
)

const sample = "20be0ffc-314a-bd53-7a50-013a65ca76d2"

var (
	id    = locality.MustParse(sample)
	other = locality.MustParse("c8c9cef9-7a7f-bd53-7a50-013e4e2afbde")
	none  locality.NullID

	formats = map[string]int16{"text": pgtype.TextFormatCode, "binary": pgtype.BinaryFormatCode}
)

func registered() *pgtype.Map {
	m := pgtype.NewMap()
	localitypgx.Register(m)
	return m
}

func some(id locality.ID) locality.NullID { return locality.NullID{ID: id, Valid: true} }

// eachFormat runs fn in both formats, with the bytes that PostgreSQL sends for id.
func eachFormat(t *testing.T, fn func(t *testing.T, format int16, wire []byte)) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := id[:]
			if format == pgtype.TextFormatCode {
				wire = []byte(sample)
			}
			fn(t, format, wire)
		})
	}
}

func TestRegister_Encodes(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format int16, wire []byte) {
		m, null := registered(), some(id)
		for _, value := range []any{id, &id, null, &null, uuid.UUID(id), [16]byte(id), pgtype.UUID{Bytes: id, Valid: true}} {
			got, err := m.Encode(pgtype.UUIDOID, format, value, []byte("before "))
			if err != nil || string(got) != "before "+string(wire) {
				t.Errorf("%T: %q, %v", value, got, err)
			}
		}
		for _, value := range []any{nil, (*locality.ID)(nil), none, &none, (*locality.NullID)(nil)} {
			if got, err := m.Encode(pgtype.UUIDOID, format, value, []byte("before ")); err != nil || got != nil {
				t.Errorf("%T: %q, %v, want NULL", value, got, err)
			}
		}
	})
}

func TestRegister_Scans(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format int16, wire []byte) {
		m := registered()
		got, null, pointer := other, none, &other
		var text string
		var google uuid.UUID
		var plain [16]byte
		for _, target := range []any{&got, &null, &pointer, &text, &google, &plain} {
			if err := m.Scan(pgtype.UUIDOID, format, wire, target); err != nil {
				t.Errorf("%T: %v", target, err)
			}
		}
		if got != id || null != some(id) || *pointer != id || text != sample || google.String() != sample ||
			plain != [16]byte(id) {
			t.Errorf("scanned %v, %v, %v, %v, %v, %v", got, null, pointer, text, google, plain)
		}
		for _, target := range []any{&got, &null, &pointer} {
			if err := m.Scan(pgtype.UUIDOID, format, nil, target); err != nil {
				t.Errorf("NULL into %T: %v", target, err)
			}
		}
		if !got.IsZero() || null != none || pointer != nil {
			t.Errorf("NULL made %v, %v, %v", got, null, pointer)
		}
	})
}

func TestRegister_RefusesBrokenValues(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format int16, wire []byte) {
		m := registered()
		for _, src := range [][]byte{{}, wire[1:], append(slices.Clone(wire), '0')} {
			got, null := other, some(other)
			for _, target := range []any{&got, &null} {
				if err := m.Scan(pgtype.UUIDOID, format, src, target); !errors.Is(err, locality.ErrMalformed) {
					t.Errorf("%q into %T: %v, want ErrMalformed", src, target, err)
				}
			}
			if got != other || null != some(other) {
				t.Errorf("%q left %v, %v", src, got, null)
			}
		}
	})
}

func TestRegister_Arrays(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format int16, _ []byte) {
		m := registered()
		ids, nulls := []locality.ID{id, other}, []locality.NullID{some(id), none, some(other)}
		plain, err := pgtype.NewMap().Encode(pgtype.UUIDArrayOID, format,
			[]pgtype.UUID{{Bytes: id, Valid: true}, {Bytes: other, Valid: true}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := m.Encode(pgtype.UUIDArrayOID, format, ids, nil)
		if err != nil || string(wire) != string(plain) {
			t.Fatalf("encoded %q, %v, want %q", wire, err, plain)
		}
		var got []locality.ID
		if err := m.Scan(pgtype.UUIDArrayOID, format, wire, &got); err != nil || !slices.Equal(got, ids) {
			t.Errorf("scanned %v, %v, want %v", got, err, ids)
		}
		wire, err = m.Encode(pgtype.UUIDArrayOID, format, nulls, nil)
		if err != nil {
			t.Fatal(err)
		}
		var gotNulls []locality.NullID
		if err := m.Scan(pgtype.UUIDArrayOID, format, wire, &gotNulls); err != nil || !slices.Equal(gotNulls, nulls) {
			t.Errorf("scanned %v, %v, want %v", gotNulls, err, nulls)
		}
		var pointers []*locality.ID
		if err := m.Scan(pgtype.UUIDArrayOID, format, wire, &pointers); err != nil || len(pointers) != 3 || *pointers[0] != id || pointers[1] != nil {
			t.Errorf("scanned %v, %v", pointers, err)
		}
		if empty, err := m.Encode(pgtype.UUIDArrayOID, format, []locality.ID{}, nil); err != nil || empty == nil {
			t.Errorf("an empty array: %q, %v", empty, err)
		}
	})
}

// In the simple protocol pgx knows only the types of the values.
func TestRegister_NamesTypes(t *testing.T) {
	t.Parallel()
	m := registered()
	for value, want := range map[any]uint32{
		id: pgtype.UUIDOID, &id: pgtype.UUIDOID, none: pgtype.UUIDOID, &none: pgtype.UUIDOID,
		&[]locality.ID{}: pgtype.UUIDArrayOID, &[]locality.NullID{}: pgtype.UUIDArrayOID,
	} {
		if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Slice {
			value = v.Elem().Interface() // slices cannot be map keys
		}
		if got, ok := m.TypeForValue(value); !ok || got.OID != want {
			t.Errorf("%T: %v, want OID %d", value, got, want)
		}
	}
}

func TestRegister_LeavesTheRest(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format int16, wire []byte) {
		plain, m := pgtype.NewMap(), registered()
		if got, want := m.FormatCodeForOID(pgtype.UUIDOID), plain.FormatCodeForOID(pgtype.UUIDOID); got != want {
			t.Errorf("preferred format %d, before %d", got, want)
		}
		var got, want any
		if err := errors.Join(m.Scan(pgtype.UUIDOID, format, wire, &got), plain.Scan(pgtype.UUIDOID, format, wire, &want)); err != nil || got != want {
			t.Errorf("into any: %v, before %v, %v", got, want, err)
		}
		// An ID as text still works, through the interfaces of database/sql.
		asText, err := m.Encode(pgtype.TextOID, format, id, nil)
		if err != nil || string(asText) != sample {
			t.Errorf("as text: %q, %v", asText, err)
		}
		if _, err := m.Encode(pgtype.UUIDOID, format, 7, nil); err == nil {
			t.Error("a number was encoded as uuid")
		}
	})
}

// TestRegister_Allocations does not run in parallel, because it counts allocations.
func TestRegister_Allocations(t *testing.T) {
	m, buf := registered(), make([]byte, 0, 64)
	got, null := new(locality.ID), new(locality.NullID)
	for name, format := range formats {
		wire := id[:]
		if format == pgtype.TextFormatCode {
			wire = []byte(sample)
		}
		for _, value := range []any{id, &id, some(id), none} {
			if n := testing.AllocsPerRun(100, func() {
				if _, err := m.Encode(pgtype.UUIDOID, format, value, buf); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%s: encoding %T: %v allocations, want 0", name, value, n)
			}
		}
		for _, target := range []any{got, null} {
			if n := testing.AllocsPerRun(100, func() {
				if err := m.Scan(pgtype.UUIDOID, format, wire, target); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%s: scanning %T: %v allocations, want 0", name, target, n)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, m := range map[string]*pgtype.Map{"registered": registered(), "plain": pgtype.NewMap()} {
		b.Run(name, func(b *testing.B) {
			var value any = id
			buf := make([]byte, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, value, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for name, m := range map[string]*pgtype.Map{"registered": registered(), "plain": pgtype.NewMap()} {
		b.Run(name, func(b *testing.B) {
			var target any = new(locality.ID)
			wire := id[:]
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, wire, target); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
