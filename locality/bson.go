// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// BSON type bytes and subtypes. A binary starts with its length and subtype, followed by the 16 bytes of an ID. Source:
// bsonspec.org, version 1.1. The driver is not imported: it only requires methods.
const (
	bsonBinary = 0x05
	bsonNull   = 0x0a

	bsonGeneric    = 0 // used by google/uuid, gofrs/uuid and any other [16]byte
	bsonLegacyUUID = 3
	bsonUUID       = 4

	bsonHeader = 5
)

// MarshalBSONValue returns a Binary of subtype 4, a UUID, for the MongoDB driver, version 2; its error is always nil.
// Map keys are text.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	data = binary.LittleEndian.AppendUint32(make([]byte, 0, bsonHeader+len(id)), uint32(len(id)))
	return bsonBinary, append(append(data, bsonUUID), id[:]...), nil
}

// UnmarshalBSONValue reads a Binary of subtype 4, or of subtype 0, which other libraries use for their IDs. As in Scan,
// null sets Nil(); decode into a NullID or a *ID to distinguish null from an ID. Subtype 3 is rejected because its byte
// order depends on the driver that wrote it; FromLegacyBSON reads it. Errors wrap ErrMalformed and leave id unchanged.
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

// MarshalBSONValue returns the BSON value of the ID, or null; its error is always nil.
func (n NullID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if !n.Valid {
		return bsonNull, nil, nil
	}
	return n.ID.MarshalBSONValue()
}

// UnmarshalBSONValue reads what ID.UnmarshalBSONValue reads; null means no ID. After an error n is unchanged.
func (n *NullID) UnmarshalBSONValue(typ byte, data []byte) error {
	if typ == bsonNull {
		*n = NullID{}
		return nil
	}
	var id ID
	err := id.UnmarshalBSONValue(typ, data)
	return n.set(id, err)
}

// LegacyOrder is the byte order that a driver used for a BSON binary of subtype 3, named as uuidRepresentation in
// connection strings.
type LegacyOrder string

// The orders that MongoDB's drivers had before subtype 4. Source: MongoDB's specification "Handling of Native UUID
// Types in Drivers".
const (
	JavaLegacy   LegacyOrder = "javaLegacy"   // both halves reversed
	CSharpLegacy LegacyOrder = "csharpLegacy" // the first three groups reversed, as in a GUID
	PythonLegacy LegacyOrder = "pythonLegacy" // as written
)

// FromLegacyBSON returns the ID that a driver wrote as BSON binary of subtype 3: data is the Data of the driver's
// bson.Binary, its 16 bytes. The data does not contain its order; a wrong one yields another ID and no error. The error
// wraps ErrMalformed, for another length or an unknown order.
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
