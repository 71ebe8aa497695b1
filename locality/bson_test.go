// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/locality"
)

var (
	_ bson.ValueMarshaler   = locality.ID{}
	_ bson.ValueUnmarshaler = (*locality.ID)(nil)
	_ bson.ValueMarshaler   = locality.NullID{}
	_ bson.ValueUnmarshaler = (*locality.NullID)(nil)
	_ bson.Zeroer           = locality.ID{}
	_ bson.Zeroer           = locality.NullID{}
)

// document has an ID wherever the MongoDB driver may find one.
type document struct {
	ID      locality.ID                 `bson:"_id"`
	Null    locality.NullID             `bson:"null"`
	Pointer *locality.ID                `bson:"pointer"`
	Omitted locality.ID                 `bson:"omitted,omitempty"`
	Nobody  locality.NullID             `bson:"nobody,omitempty"`
	List    []locality.ID               `bson:"list"`
	Values  map[string]locality.ID      `bson:"values"`
	Keys    map[locality.ID]locality.ID `bson:"keys"`
}

func marshal(t testing.TB, v any) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestBSON_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id, other := ids().Draw(t, "id"), ids().Draw(t, "other")
		in := document{
			ID: id, Null: locality.NullID{ID: other, Valid: true}, Pointer: &other,
			List:   []locality.ID{id, other},
			Values: map[string]locality.ID{"a": id},
			Keys:   map[locality.ID]locality.ID{id: other},
		}
		raw, err := bson.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out document
		if err := bson.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		if out.ID != id || out.Null != in.Null || *out.Pointer != other || len(out.List) != 2 || out.List[1] != other ||
			out.Values["a"] != id || out.Keys[id] != other {
			t.Fatalf("%+v came back as %+v", in, out)
		}
	})
}

func TestBSON_Writes(t *testing.T) {
	t.Parallel()
	id := locality.MustParse(sample)
	raw := marshal(t, document{ID: id, Keys: map[locality.ID]locality.ID{id: id}})
	for _, path := range [][]string{{"_id"}, {"keys", sample}} {
		if subtype, data := raw.Lookup(path...).Binary(); subtype != bson.TypeBinaryUUID || string(data) != string(id[:]) {
			t.Errorf("%v: binary of subtype %d, %x", path, subtype, data)
		}
	}
	for _, name := range []string{"null", "pointer"} {
		if got := raw.Lookup(name).Type; got != bson.TypeNull {
			t.Errorf("%s: %v, want null", name, got)
		}
	}
	for _, name := range []string{"omitted", "nobody"} {
		if v, err := raw.LookupErr(name); err == nil {
			t.Errorf("%s: %v, want nothing", name, v)
		}
	}
}

func TestBSON_ReadsNull(t *testing.T) {
	t.Parallel()
	id := locality.MustParse(sample)
	out := document{ID: id, Null: some(sample), Pointer: &id}
	raw := marshal(t, bson.D{{Key: "_id", Value: nil}, {Key: "null", Value: nil}, {Key: "pointer", Value: nil}})
	if err := bson.Unmarshal(raw, &out); err != nil || !out.ID.IsZero() || out.Null.Valid || out.Pointer != nil {
		t.Errorf("Unmarshal of nulls = %v, made %+v", err, out)
	}
}

// google/uuid, like gofrs/uuid and any [16]byte, is written as subtype 0.
func TestBSON_ReadsOtherLibraries(t *testing.T) {
	t.Parallel()
	u := uuid.MustParse(sample)
	raw := marshal(t, bson.M{"_id": u, "null": u})
	if subtype, _ := raw.Lookup("_id").Binary(); subtype != bson.TypeBinaryGeneric {
		t.Fatalf("google/uuid is written as subtype %d, documented is 0", subtype)
	}
	var out document
	if err := bson.Unmarshal(raw, &out); err != nil || out.ID.String() != sample || out.Null != some(sample) {
		t.Errorf("Unmarshal = %v, made %+v", err, out)
	}
}

func TestBSON_Refuses(t *testing.T) {
	t.Parallel()
	id := locality.MustParse(sample)
	for name, tc := range map[string]struct {
		value any
		want  string
	}{
		"legacy":  {bson.Binary{Subtype: bson.TypeBinaryUUIDOld, Data: id[:]}, "FromLegacyBSON"},
		"digest":  {bson.Binary{Subtype: bson.TypeBinaryMD5, Data: id[:]}, "subtype 5"},
		"old":     {bson.Binary{Subtype: bson.TypeBinaryBinaryOld, Data: id[:]}, "other length"},
		"short":   {bson.Binary{Subtype: bson.TypeBinaryUUID, Data: id[:15]}, "other length"},
		"empty":   {bson.Binary{Subtype: bson.TypeBinaryUUID}, "other length"},
		"text":    {sample, "type 0x02"},
		"no text": {"", "type 0x02"},
		"object":  {bson.NewObjectID(), "type 0x07"},
	} {
		raw := marshal(t, bson.M{"_id": tc.value, "null": tc.value})
		out := document{ID: id, Null: some(sample)}
		err := bson.Unmarshal(raw, &out)
		if !errors.Is(err, locality.ErrMalformed) || !strings.Contains(err.Error(), tc.want) || out.ID != id ||
			out.Null != some(sample) {
			t.Errorf("%s: Unmarshal = %v, left %v and %+v, want an error with %q", name, err, out.ID, out.Null, tc.want)
		}
	}
}

func TestFromLegacyBSON(t *testing.T) {
	t.Parallel()
	// The example of MongoDB's specification "Handling of Native UUID Types in Drivers".
	const text = "00112233-4455-6677-8899-aabbccddeeff"
	for order, data := range map[locality.LegacyOrder]string{
		locality.JavaLegacy:   "7766554433221100ffeeddccbbaa9988",
		locality.CSharpLegacy: "33221100554477668899aabbccddeeff",
		locality.PythonLegacy: "00112233445566778899aabbccddeeff",
	} {
		raw, err := hex.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		// As the error of UnmarshalBSONValue advises.
		var doc struct{ ID bson.Binary }
		if err := bson.Unmarshal(marshal(t, bson.M{"id": bson.Binary{Subtype: 3, Data: raw}}), &doc); err != nil {
			t.Fatal(err)
		}
		if id, err := locality.FromLegacyBSON(doc.ID.Data, order); err != nil || id.String() != text {
			t.Errorf("%s: %v, %v, want %s", order, id, err, text)
		}
		if hex.EncodeToString(raw) != data {
			t.Errorf("%s: changed its argument to %x", order, raw)
		}
		if id, err := locality.FromLegacyBSON(raw[1:], order); !errors.Is(err, locality.ErrMalformed) || !id.IsZero() {
			t.Errorf("%s: of 15 bytes: %v, %v", order, id, err)
		}
	}
	for _, order := range []locality.LegacyOrder{"", "standard", "javalegacy"} {
		if id, err := locality.FromLegacyBSON(make([]byte, 16), order); !errors.Is(err, locality.ErrMalformed) || !id.IsZero() {
			t.Errorf("order %q: %v, %v", order, id, err)
		}
	}
}

func FuzzBSON(f *testing.F) {
	id := locality.MustParse(sample)
	_, good, _ := id.MarshalBSONValue()
	f.Add(byte(bson.TypeBinary), good)
	f.Add(byte(bson.TypeNull), []byte(nil))
	f.Add(byte(bson.TypeBinary), []byte("\x10\x00\x00\x00\x03"+string(id[:])))
	f.Add(byte(bson.TypeBinary), []byte("\x10\x00\x00\x00\x00"+string(id[:])))
	f.Add(byte(bson.TypeBinary), []byte("\x11\x00\x00\x00\x04"+string(id[:])))
	f.Add(byte(bson.TypeBinary), []byte("\x10\x00"))
	f.Add(byte(bson.TypeString), []byte(sample))
	f.Fuzz(func(t *testing.T, typ byte, data []byte) {
		got, null := id, some(sample)
		err := got.UnmarshalBSONValue(typ, data)
		if errNull := null.UnmarshalBSONValue(typ, data); (err == nil) != (errNull == nil) {
			t.Fatalf("of %#x, %x: %v for an ID, %v for a NullID", typ, data, err, errNull)
		}
		switch {
		case err != nil:
			if got != id || null != some(sample) {
				t.Fatalf("of %#x, %x: %v, left %v and %+v", typ, data, err, got, null)
			}
		case typ == byte(bson.TypeNull):
			if !got.IsZero() || null != (locality.NullID{}) {
				t.Fatalf("null made %v and %+v", got, null)
			}
		default:
			_, back, _ := got.MarshalBSONValue()
			back[4] = data[4]
			if typ != byte(bson.TypeBinary) || string(back) != string(data) || null.ID != got || !null.Valid {
				t.Fatalf("of %#x, %x: %v and %+v", typ, data, got, null)
			}
		}
	})
}
