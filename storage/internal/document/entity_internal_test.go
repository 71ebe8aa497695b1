// SPDX-License-Identifier: Apache-2.0

package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
)

var drawEntity = rapid.Custom(func(t *rapid.T) *entity.Entity {
	e := &entity.Entity{Kind: drawText.Draw(t, "kind"), Members: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) entity.Member {
		return entity.Member{
			PUID: entity.PUID(rapid.Int64().Draw(t, "puid")), Version: rapid.Int64().Draw(t, "version"),
			Ref: entity.Ref{Source: drawText.Draw(t, "source"), Key: drawText.Draw(t, "key")},
		}
	}), 1, 4).Draw(t, "members")}
	e.View = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) entity.MergedAttribute {
		return entity.MergedAttribute{Name: drawText.Draw(t, "name"), Values: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) entity.MergedValue {
			return entity.MergedValue{Value: drawText.Draw(t, "value"), Members: rapid.SliceOfN(rapid.IntRange(0, len(e.Members)-1), 1, 3).Draw(t, "members")}
		}), 1, 3).Draw(t, "values")}
	}), 0, 4).Draw(t, "view")
	return e
})

func init() { conformance.Share(drawEntity) }

func TestEntity_ComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEntity.Draw(t, "entity")
		body := AppendEntity([]byte("before"), e)[len("before"):]
		var got entity.Entity
		err := ParseEntity(body, &got)
		if diff := cmp.Diff(*e, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%x, %v: %s", body, err, diff)
		}
		for n := range body {
			if err := ParseEntity(body[:n], &got); err == nil {
				t.Fatalf("the first %d bytes of %x are an entity", n, body)
			}
		}
		if err := ParseEntity(append(body, 0), &got); err == nil {
			t.Fatalf("%x and one more byte is an entity", body)
		}
	})
}

// The bytes are stored: this is format 1, which must not change.
func TestEntity_Format(t *testing.T) {
	t.Parallel()
	e := &entity.Entity{
		Kind:    "place",
		Members: []entity.Member{{PUID: 1<<32 + 7, Ref: entity.Ref{Source: "s", Key: "k1"}, Version: 3}, {PUID: -2, Ref: entity.Ref{Source: "t", Key: "k2"}, Version: 1}},
		View:    entity.View{{Name: "name", Values: []entity.MergedValue{{Value: "Bar", Members: []int{0, 1}}}}},
	}
	const want = "\x01\x05place" +
		"\x02\x01s\x02k1\x00\x00\x00\x01\x00\x00\x00\x07\x06\x01t\x02k2\xff\xff\xff\xff\xff\xff\xff\xfe\x02" +
		"\x01\x04name\x01\x03Bar\x04\x00\x01"
	if got := string(AppendEntity(nil, e)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzParseEntity(f *testing.F) {
	f.Add([]byte("\x01\x05place\x00\x00"))
	f.Fuzz(func(_ *testing.T, body []byte) { _ = ParseEntity(body, new(entity.Entity)) })
}
