// SPDX-License-Identifier: Apache-2.0

package entity_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
)

func TestParsePUID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]entity.PUID{
		"1": 1, "-1": -1, "-9223372036854775808": math.MinInt64, "9223372036854775807": math.MaxInt64,
		"9007199254740993": 1<<53 + 1,
	} {
		if got, err := entity.ParsePUID(text); err != nil || got != want {
			t.Errorf("ParsePUID(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " 1", "1 ", "+1", "-0", "01", "--1", "1e3", "0x1", "1_000", "9223372036854775808", "-9223372036854775809", "１",
		"1.0", "null",
		strings.Repeat("9", 500),
	} {
		got, err := entity.ParsePUID(text)
		if err == nil {
			t.Errorf("ParsePUID(%q) = %d, want an error", text, got)
		} else if len(err.Error()) > 200 {
			t.Errorf("the error about %d characters has %d", len(text), len(err.Error()))
		}
	}
}

func TestPUID_IsAStringInJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := entity.PUID(rapid.Int64().Draw(t, "puid"))
		text, err := json.Marshal(want)
		if err != nil || string(text) != `"`+want.String()+`"` {
			t.Fatalf("JSON of %d is %s, %v", want, text, err)
		}
		var got entity.PUID
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%s is read as %d, %v", text, got, err)
		}
	})
	got := entity.PUID(5)
	for _, text := range []string{`1`, `""`, `"+1"`, `"x"`} {
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != 5 {
			t.Errorf("%s is read as %d, %v", text, got, err)
		}
	}
}

func FuzzParsePUID(f *testing.F) {
	for _, seed := range []string{"0", "-0", "+1", "9223372036854775807", "-9223372036854775808", "00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := entity.ParsePUID(text); err == nil && p.String() != text {
			t.Errorf("%q is read as %s", text, p)
		}
	})
}

func TestRecord_Deleted(t *testing.T) {
	t.Parallel()
	if !(&entity.Record{}).Deleted() {
		t.Error("a record without attributes is not deleted")
	}
	if (&entity.Record{Attributes: entity.Attributes{}}).Deleted() {
		t.Error("a record whose attributes are none is deleted")
	}
}

func TestRef_String(t *testing.T) {
	t.Parallel()
	if got := (entity.Ref{Source: "osm", Key: "node/1:2"}).String(); got != "osm:node/1:2" {
		t.Errorf("the external key is printed as %q", got)
	}
}

func TestCounts_Add(t *testing.T) {
	t.Parallel()
	got := entity.Counts{Records: 1, Entities: 2, Merges: 3,
		Splits: 4}.Add(entity.Counts{Records: 10, Entities: -2, Merges: 5})
	if want := (entity.Counts{Records: 11, Entities: 0, Merges: 8, Splits: 4}); got != want {
		t.Errorf("sum is %+v, want %+v", got, want)
	}
}

// Terms are stored: these values must never change.
func TestTerm_Frozen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attribute, normal string
		want              uint64
	}{
		{"", "", 0xe934a84adb052768},
		{"city", "springfield", 0xda648ed1b66f11f1},
		{"phones", "4155552300", 0xe041a85d02156985},
		{"name", "café 寿司", 0xf3b852511f15d34a},
		{"a", "bc", 0x899855c5c500bc83},
		{"ab", "c", 0xa9aac9f8908ad427},
		{"name", strings.Repeat("springfield ", 20), 0x34954e6630b214b4},
	} {
		if got := entity.Term(c.attribute, c.normal); got != c.want {
			t.Errorf("Term(%q, %q) = %#016x, want %#016x", c.attribute, c.normal, got, c.want)
		}
	}
}

func TestTerm_TellsNameFromValue(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-z_]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		v, w := rapid.String().Draw(t, "v"), rapid.String().Draw(t, "w")
		if same := a == b && v == w; (entity.Term(a, v) == entity.Term(b, w)) != same {
			t.Fatalf("terms of %q = %q and %q = %q", a, v, b, w)
		}
	})
}
