// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// What the MongoDB driver says of a value by one byte, and what stands before the
// 16 bytes of an id: their number and the subtype. Source: bsonspec.org, version
// 1.1. The driver is not imported: it asks for methods.
const (
	bsonBinary = 0x05
	bsonNull   = 0x0a

	bsonGeneric    = 0 // google/uuid, gofrs/uuid and any other [16]byte are written as this
	bsonLegacyUUID = 3
	bsonUUID       = 4

	bsonHeader = 5
)

// MarshalBSONValue gives the MongoDB driver, version 2, a Binary of subtype 4, a
// UUID; its error is always nil. Map keys are text.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	data = binary.LittleEndian.AppendUint32(make([]byte, 0, bsonHeader+len(id)), uint32(len(id)))
	return bsonBinary, append(append(data, bsonUUID), id[:]...), nil
}

// UnmarshalBSONValue reads a Binary of subtype 4, or of subtype 0, which is how
// other libraries write their ids. As in Scan, null sets Nil(); decode into a
// NullID or a *ID to tell null from an id. Subtype 3 is refused, because its bytes
// stand in the order of the driver that wrote them; FromLegacyBSON reads it. Errors
// are of ErrMalformed, and leave id unchanged.
func (id *ID) UnmarshalBSONValue(typ byte, data []byte) error {
	switch {
	case typ == bsonNull:
		*id = Nil()
		return nil
	case typ != bsonBinary:
		return fmt.Errorf("%w: a BSON value of type 0x%02x", ErrMalformed, typ)
	case len(data) != bsonHeader+len(id) || binary.LittleEndian.Uint32(data) != uint32(len(id)):
		return fmt.Errorf("%w: a BSON binary of other length", ErrMalformed)
	}
	switch subtype := data[4]; subtype {
	case bsonUUID, bsonGeneric:
		*id = ID(data[bsonHeader:])
		return nil
	case bsonLegacyUUID:
		return fmt.Errorf("%w: a BSON binary of subtype 3: decode it into a bson.Binary, and give FromLegacyBSON its Data and the order of the driver that wrote it", ErrMalformed)
	default:
		return fmt.Errorf("%w: a BSON binary of subtype %d, want 4 or 0", ErrMalformed, subtype)
	}
}

// MarshalBSONValue gives the MongoDB driver what it gives for the id, or null; its
// error is always nil.
func (n NullID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if !n.Valid {
		return bsonNull, nil, nil
	}
	return n.ID.MarshalBSONValue()
}

// UnmarshalBSONValue reads what ID.UnmarshalBSONValue reads; null is none. After an
// error n is unchanged.
func (n *NullID) UnmarshalBSONValue(typ byte, data []byte) error {
	if typ == bsonNull {
		*n = NullID{}
		return nil
	}
	var id ID
	err := id.UnmarshalBSONValue(typ, data)
	return n.set(id, err)
}

// LegacyOrder is the order in which a driver wrote the bytes of a BSON binary of
// subtype 3, by the name that it has as uuidRepresentation in connection strings.
type LegacyOrder string

// The orders that MongoDB's drivers had before subtype 4. Source: MongoDB's
// specification "Handling of Native UUID Types in Drivers".
const (
	JavaLegacy   LegacyOrder = "javaLegacy"   // both halves backwards
	CSharpLegacy LegacyOrder = "csharpLegacy" // the first three groups backwards, as in a GUID
	PythonLegacy LegacyOrder = "pythonLegacy" // as written
)

// FromLegacyBSON returns the id that a driver wrote as BSON binary of subtype 3:
// data is the Data of the driver's bson.Binary, its 16 bytes. Nothing in the data
// says which order it has; a wrong one gives another id, and no error. The error
// is of ErrMalformed, for another length or an unknown order.
func FromLegacyBSON(data []byte, order LegacyOrder) (ID, error) {
	id, err := FromBytes(data)
	if err != nil {
		return ID{}, err
	}
	switch order {
	case JavaLegacy:
		slices.Reverse(id[0:8])
		slices.Reverse(id[8:16])
	case CSharpLegacy:
		slices.Reverse(id[0:4])
		slices.Reverse(id[4:6])
		slices.Reverse(id[6:8])
	case PythonLegacy:
	default:
		return ID{}, fmt.Errorf("%w: in the unknown legacy order %q", ErrMalformed, string(order))
	}
	return id, nil
}
