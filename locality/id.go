// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"time"
)

// ID is a Locality UUID: 128 bits, minted without coordination, whose first 32
// bits decide where the thing it names lives. It is comparable, so it can be a
// map key; the zero value is Nil(). Source: the Locality UUID (version b) format
// of Groupon; doc.go has the layout.
type ID [16]byte

// version is the high half of byte 6 in every id that this package mints.
const version = 0xb

// Nil returns the id of 128 zero bits. It is never minted.
func Nil() ID { return ID{} }

// Max returns the id of 128 one bits, which sorts after every other. It is never
// minted.
func Max() ID {
	return ID{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	}
}

// FromBytes returns the id that the 16 bytes of b spell, or ErrMalformed if b has
// another length. Any 16 bytes are an id.
func FromBytes(b []byte) (ID, error) {
	if len(b) != len(ID{}) {
		return ID{}, ErrMalformed
	}
	return ID(b), nil
}

// Compare returns -1, 0 or +1 as id sorts before, with or after other, byte by
// byte, which is also the order of their texts.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// IsZero reports whether id is Nil(). encoding/json asks it for omitzero.
func (id ID) IsZero() bool { return id == ID{} }

// Position returns the first 32 bits: the place of the id on the ring of cells.
func (id ID) Position() uint32 { return binary.BigEndian.Uint32(id[0:4]) }

// Counter returns the counter that the position was made from, if the id was
// minted in Variable order; for other ids it is just another number.
func (id ID) Counter() uint32 { return reverseDigits(id.Position()) }

// Version returns the four bits that say how an id is laid out: 0xb for those of
// this package.
func (id ID) Version() int { return int(id[6] >> 4) }

// PID returns the low 16 bits of the number of the process that minted the id. It
// says false if the version is not b.
func (id ID) PID() (uint16, bool) {
	if id.Version() != version {
		return 0, false
	}
	return binary.BigEndian.Uint16(id[4:6]), true
}

// Node returns the 28 bits that tell minting processes apart. It says false if
// the version is not b.
func (id ID) Node() (uint32, bool) {
	if id.Version() != version {
		return 0, false
	}
	return binary.BigEndian.Uint32(id[6:10]) & maxNode, true
}

// Time returns when the id was minted, in UTC and whole milliseconds. It says
// false if the version is not b. The field reaches the year 10889, and time.Time
// refuses to write years beyond 9999 as JSON: print UnixMilli.
func (id ID) Time() (time.Time, bool) {
	if id.Version() != version {
		return time.Time{}, false
	}
	return time.UnixMilli(id.Millis()).UTC(), true
}

// Millis returns the 48 bits of time, whatever the version: in an id of version b the milliseconds
// since 1970 at which it was minted. Routing goes by them, as by Position.
func (id ID) Millis() int64 { return int64(binary.BigEndian.Uint64(id[8:16]) & maxMillis) }

const (
	maxNode   = 1<<28 - 1
	maxMillis = 1<<48 - 1
)

// assemble lays an id out: position w, process x, node y, milliseconds z. It
// takes the low 16, 28 and 48 bits of the last three.
func assemble(w uint32, x uint16, y uint32, z int64) (id ID) {
	binary.BigEndian.PutUint32(id[0:4], w)
	binary.BigEndian.PutUint16(id[4:6], x)
	binary.BigEndian.PutUint64(id[8:16], uint64(y)<<48|uint64(z)&maxMillis)
	binary.BigEndian.PutUint16(id[6:8], version<<12|uint16(y>>16&0xfff))
	return id
}

// reverseDigits turns the order of the eight hex digits of v around.
func reverseDigits(v uint32) uint32 {
	v = bits.ReverseBytes32(v)
	return v>>4&0x0f0f0f0f | v&0x0f0f0f0f<<4
}
