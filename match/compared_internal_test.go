// SPDX-License-Identifier: Apache-2.0

package match

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// drawValue draws a value that at least one type can parse, or none.
func drawValue(t *rapid.T) string {
	return rapid.OneOf(rapid.SampledFrom([]string{
		"", "Blue Bottle Coffee GmbH", "Dr. Anna-Maria van der Berg Jr.", "Żabka ATM", "Кафе Пушкин", "Bank of 12 Oaks Pharmacy",
		"+49 30 1234567", "(415) 555-0199", "800 555 0100", "12-14 Elm St, Apt 3, 94110", "4400 Broadway Ave 10001", "52.5200", "-13.4050", "91",
		"https://www.acme.example/shop?x=1", "info@acme.example", "anna@mail.example", "Food > Café", "1969-07-20", "03/04/1972", "1984", "500GB",
		"12.5", "7 kg", "94110", "New York", "CA", "Smith, John; van Dam, Eva et al.", "id-123", "00012345678905", "Canon EOS 350D black 8MP",
	}), rapid.StringN(0, 20, 40)).Draw(t, "value")
}

func drawRecord(t *rapid.T, m *Matcher, label string) *Record {
	a := Attributes{}
	for _, attribute := range m.schema.Attributes {
		for range rapid.IntRange(0, 3).Draw(t, label+" "+attribute.Name) {
			a[attribute.Name] = append(a[attribute.Name], drawValue(t))
		}
	}
	return m.Normalise(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "source"), rapid.StringN(1, 3, 9).Draw(t, "key"), a)
}

// The record that is read has every field that comparisons need, and compares like the original.
func TestAppendCompared_IsAllThatComparisonsNeed(t *testing.T) {
	t.Parallel()
	same := cmp.Options{
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Record{}, "attributes", "keys", "matcher"),
		cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.Comparer(func(a, b *Attribute) bool { return a == b }),
	}
	for _, schema := range Kinds() {
		m, read := New(schema, nil), &Record{}
		rapid.Check(t, func(t *rapid.T) {
			a, b := drawRecord(t, m, "a"), drawRecord(t, m, "b")
			written := string(a.AppendCompared([]byte("before"))[len("before"):])
			if a.title != nil {
				if len(written) > 0 {
					t.Fatal("a title is written, which has fields that are not")
				}
				return
			}
			m.ReadCompared(written, read) // over the one before
			if diff := cmp.Diff(a, read, same); diff != "" {
				t.Fatalf("of %v: %s", a.attributes, diff)
			}
			for _, kept := range read.name.tokens[len(read.name.tokens):cap(read.name.tokens)] {
				if kept != (token{}) {
					t.Fatalf("%q of a former record stays in memory", kept.text)
				}
			}
			v, weight, linked := m.Link(a, b)
			if w, x, l := m.Link(read, b); w != v || x != weight || l != linked {
				t.Fatalf("read again it has an edge %v of %d, %v, and not %v of %d, %v", w, x, l, v, weight, linked)
			}
			if x, y := DifferentNames([]*Record{a, b}), DifferentNames([]*Record{read, b}); x != y {
				t.Fatalf("%d names, and read again %d", x, y)
			}
		})
	}
}

func BenchmarkReadCompared(b *testing.B) {
	m := New(Place(), nil)
	a := Attributes{
		"name": {"Blue Bottle Coffee"}, "phones": {"+1 415 555 0199"}, "address": {"4400 Broadway Ave"}, "city": {"Oakland"}, "region": {"CA"},
		"postcode": {"94611"}, "country": {"US"}, "latitude": {"37.8"}, "longitude": {"-122.2"}, "websites": {"https://bluebottle.example/oakland"}, "category": {"Food > Café"},
	}
	written, r := string(m.Normalise("s", "k", a).AppendCompared(nil)), &Record{}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.ReadCompared(written, r)
		}
	})
	b.Run("normalise", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Normalise("s", "k", a)
		}
	})
	b.Run("append", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf = r.AppendCompared(buf[:0])
		}
	})
	b.Logf("%d bytes", len(written))
}
