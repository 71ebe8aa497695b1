// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"bytes"
	"encoding/binary"
	"time"
)

// ID is a Locality UUID: 128 bits, minted without coordination, whose first 32 bits determine where the thing it names
// lives. It is comparable, so it can be a map key; the zero value is Nil(). Source: the Locality UUID (version b)
// format of Groupon; doc.go has the layout.
type ID [16]byte

// Nil returns the ID of 128 zero bits. It is never minted.
func Nil() ID { return ID{} }

// Max returns the ID of 128 one bits, which sorts after every other. It is never minted.
func Max() ID {
	return ID{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	}
}

// FromBytes returns the ID with the 16 bytes of b, or ErrMalformed if b has another length. Any 16 bytes are an ID.
func FromBytes(b []byte) (ID, error) {
	if len(b) != len(ID{}) {
		return ID{}, ErrMalformed
	}
	return ID(b), nil
}

// Compare returns -1, 0 or +1 if id sorts before, with or after other, byte by byte, which is also the order of their
// texts.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// IsZero reports whether id is Nil(). encoding/json calls it for omitzero.
func (id ID) IsZero() bool { return id == ID{} }

// Version returns the four version bits, which determine the layout: 0xb for IDs of this package, 8 for IDs of
// generators with Options.Envelope Version8.
func (id ID) Version() int { return int(id[6] >> 4) }

// Position returns the first 32 bits: the place of the ID on the ring of cells.
func (id ID) Position() uint32 { return binary.BigEndian.Uint32(id[0:4]) }

// Counter returns the counter that the position was made from, if the ID was minted in Variable order or near
// something; for other IDs the number has no meaning.
func (id ID) Counter() uint32 { return reverseDigits(id.Position()) }

// PID returns the low 16 bits of the number of the process that minted the ID. The second result is false if the
// version is not b.
func (id ID) PID() (uint16, bool) {
	return id.pid(), id.Version() == 0xb
}

// Node returns the 28 bits that distinguish minting processes. The second result is false if the version is not b.
func (id ID) Node() (uint32, bool) {
	return binary.BigEndian.Uint32(id[6:10]) & (1<<28 - 1), id.Version() == 0xb
}

// Time returns when the ID was minted, in UTC and whole milliseconds. The second result is false if the version is not
// b. The field reaches the year 10889, and time.Time refuses to write years beyond 9999 as JSON: print Millis.
func (id ID) Time() (time.Time, bool) {
	return id.time(), id.Version() == 0xb
}

// Millis returns the 48 bits of time, whatever the version: for an ID of this package the milliseconds since 1970 at
// which it was minted. Routing uses them, as it uses Position.
func (id ID) Millis() int64 { return int64(binary.BigEndian.Uint64(id[8:16]) & maxMillis) }

func (id ID) pid() uint16     { return binary.BigEndian.Uint16(id[4:6]) }
func (id ID) time() time.Time { return time.UnixMilli(id.Millis()).UTC() }

// maxMillis is the last millisecond that an ID can carry.
const maxMillis = 1<<48 - 1

// Fields are the decoded fields of an ID of this package.
type Fields struct {
	PID  uint16
	Node uint32
	Time time.Time
}

// FieldsV8 decodes an ID that was minted with Options.Envelope Version8, whose node has 26 bits. Other programs mint
// IDs of version 8 too, so the caller must know where the ID comes from. The second result is false if version and
// variant are not those of a UUID of version 8 (RFC 9562, section 5.8).
func FieldsV8(id ID) (Fields, bool) {
	high, low := binary.BigEndian.Uint16(id[6:8]), binary.BigEndian.Uint16(id[8:10])
	return Fields{PID: id.pid(), Node: uint32(high&0xfff)<<14 | uint32(low&0x3fff), Time: id.time()},
		id.Version() == 8 && low>>14 == 0b10
}

// Envelope is the part of an ID around its fields: its version, and for Version8 the variant.
type Envelope int

const (
	// VersionB is the format of the reference: the digit b, and 28 bits of node. It is not a version of RFC 9562, and
	// validators that require one reject it. It is the default.
	VersionB Envelope = iota
	// Version8 makes IDs that are UUIDs of version 8 of RFC 9562: two bits of the node become the variant. PID, Node
	// and Time report false for them; see FieldsV8.
	Version8
)

// nodeBits returns the number of node bits in the envelope.
func (e Envelope) nodeBits() int {
	if e == Version8 {
		return 26
	}
	return 28
}

// identity distinguishes lanes: all bits of an ID except its position and its time, as two big-endian halves.
type identity struct{ high, low uint64 }

// identity encodes process x and the low nodeBits of node y.
func (e Envelope) identity(x uint16, y uint32) identity {
	if e == Version8 {
		return identity{
			high: uint64(x)<<16 | 8<<12 | uint64(y>>14&0xfff),
			low:  0b10<<62 | uint64(y&0x3fff)<<48,
		}
	}
	return identity{
		high: uint64(x)<<16 | 0xb<<12 | uint64(y>>16&0xfff),
		low:  uint64(y&0xffff) << 48,
	}
}

// put writes an ID made of the identity, a position and 48 bits of a time. It writes to the final destination, because
// copying bytes that were just written as two words stalls the processor.
func (who identity) put(id *ID, position uint32, ms int64) {
	binary.BigEndian.PutUint64(id[0:8], uint64(position)<<32|who.high)
	binary.BigEndian.PutUint64(id[8:16], who.low|uint64(ms)&maxMillis)
}
