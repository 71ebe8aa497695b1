// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/locality"
)

func TestID_StepsAndWindowCount(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	ids := fill(g, 1000)
	for i, id := range ids {
		if n, ok := id.Steps(ids[0]); !ok || n != uint32(i) {
			t.Fatalf("id %d is %d steps from the first, %v", i, n, ok)
		}
	}
	if _, ok := ids[0].Steps(generator(t, nil).New()); ok {
		t.Error("ids of two lanes have steps between them")
	}
	// By chance one in 256 IDs of another order is near its window's base.
	chance := 0
	for _, id := range fill(lot(t, locality.Variable, 9), 100_000) {
		if _, ok := id.WindowCount(); ok {
			chance++
		}
	}
	if chance < 250 || chance > 550 {
		t.Errorf("%d of 100,000 variable ids taken for sequential, want about 390", chance)
	}
	s := generator(t, &locality.Options{Order: locality.Sequential, Now: at(1.7e12)})
	for want := uint32(1); want < 100; want++ {
		if n, ok := s.New().WindowCount(); !ok || n != want {
			t.Fatalf("sequential id %d says %d, %v", want, n, ok)
		}
	}
}

// rfc9562 is the form of a UUID that validators accept.
var rfc9562 = regexp.MustCompile(`\A[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z`)

func TestVersion8(t *testing.T) {
	t.Parallel()
	g, err := locality.NewGeneratorAs(&locality.Options{
		Envelope: locality.Version8, Node: locality.FixedNode(0x1234567), Now: at(1.7e12),
	}, func() int { return 0x1abcd })
	if err != nil {
		t.Fatal(err)
	}
	over := locality.Segment{Hi: ring, From: 1, Until: 1000}
	past, err := g.NewInPast(over)
	if err != nil {
		t.Fatal(err)
	}
	main, near := g.New(), g.Near(locality.Nil())
	for _, id := range []locality.ID{main, near, past} {
		if !rfc9562.MatchString(id.String()) {
			t.Errorf("%v is no UUID of RFC 9562", id)
		}
		_, hasPID := id.PID()
		_, hasNode := id.Node()
		_, hasTime := id.Time()
		if id.Version() != 8 || hasPID || hasNode || hasTime {
			t.Errorf("%v: version %d, fields %v, %v, %v", id, id.Version(), hasPID, hasNode, hasTime)
		}
	}
	want := locality.Fields{PID: 0xabcd, Node: 0x1234567, Time: time.UnixMilli(1.7e12).UTC()}
	if f, ok := locality.FieldsV8(main); !ok || f != want {
		t.Errorf("FieldsV8(%v) = %+v, %v, want %+v", main, f, ok, want)
	}
	if f, ok := locality.FieldsV8(near); !ok || f.Node != 0x1234567|1<<25 {
		t.Errorf("FieldsV8 of a near id = %+v, %v", f, ok)
	}
	if !over.Contains(past) {
		t.Errorf("%v is not in %+v", past, over)
	}
	if rfc9562.MatchString(generator(t, nil).New().String()) {
		t.Error("version b passes for a UUID of RFC 9562")
	}
}

func TestFieldsV8_RefusesOthers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{sample, "20be0ffc-314a-8d53-7a50-013a65ca76d2", "20be0ffc-314a-4d53-8a50-013a65ca76d2"} {
		if f, ok := locality.FieldsV8(locality.MustParse(text)); ok {
			t.Errorf("FieldsV8(%s) = %+v", text, f)
		}
	}
}

func TestID_FieldsOfAnyBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, x := rapid.Uint32().Draw(t, "w"), rapid.Uint16().Draw(t, "x")
		y, z := rapid.Uint32Range(0, 1<<28-1).Draw(t, "y"), rapid.Int64Range(0, 1<<48-1).Draw(t, "z")
		id := locality.Assemble(w, x, y, z)
		pid, ok1 := id.PID()
		node, ok2 := id.Node()
		at, ok3 := id.Time()
		if id.Position() != w || pid != x || node != y || id.Millis() != z || at.UnixMilli() != z || !ok1 || !ok2 || !ok3 {
			t.Fatalf("%v: %x %x %x %x", id, id.Position(), pid, node, id.Millis())
		}
		if id.Counter() != reverse(w) {
			t.Fatalf("counter %x of position %x", id.Counter(), w)
		}
	})
}
