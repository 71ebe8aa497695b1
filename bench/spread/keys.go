// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/locus-db/locus/locality"
)

// key is an _id in comparable form: 16 bytes, big-endian, hi before lo. MongoDB compares binary values of one
// length and subtype, and ObjectIds, byte by byte; the 12 bytes of an ObjectId are padded with zeros here, which
// does not change the order.
type key struct{ hi, lo uint64 }

func keyOf(b [16]byte) key {
	return key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (k key) bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], k.hi)
	binary.BigEndian.PutUint64(b[8:], k.lo)
	return b
}

func (k key) compare(o key) int {
	switch {
	case k.hi < o.hi, k.hi == o.hi && k.lo < o.lo:
		return -1
	case k == o:
		return 0
	}
	return 1
}

// minter mints keys in one process. A document that does not found a family passes the founder's key as parent.
type minter func(now time.Time, parent *key) key

// kind is a way to generate keys.
type kind struct {
	name, title string
	// objectID: keys are ObjectIds; otherwise UUIDs.
	objectID bool
	// minter returns the minter of a new process, which draws from r.
	minter func(r *rand.ChaCha8) minter
}

// value returns a key as written into BSON: an ObjectId, or binary of subtype 4.
func (k kind) value(of key) any {
	b := of.bytes()
	if k.objectID {
		return bson.ObjectID(b[:12])
	}
	return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: b[:]}
}

// kinds in order, from those that heat one shard to those that spread.
var kinds = []kind{
	{"objectid", "ObjectId", true, objectIDs},
	{"uuidv7", "UUID version 7", false, version7},
	{"uuidv1", "UUID version 1", false, version1},
	{"sequential", "Locality UUID, sequential order", false, localityIDs(locality.Sequential, false)},
	{"uuidv4", "UUID version 4", false, version4},
	{"variable", "Locality UUID, variable order", false, localityIDs(locality.Variable, false)},
	{"near", "Locality UUID, variable order, members near their family", false, localityIDs(locality.Variable, true)},
}

// localityIDs mints with package locality, with the clock and the random numbers of the simulation.
func localityIDs(order locality.Order, near bool) func(*rand.ChaCha8) minter {
	return func(r *rand.ChaCha8) minter {
		var clock time.Time
		g, err := locality.NewGenerator(&locality.Options{
			Order: order, PID: locality.RandomPID, Rand: r, Now: func() time.Time { return clock },
		})
		if err != nil {
			panic(err) // the options are constants
		}
		return func(now time.Time, parent *key) key {
			clock = now
			if near && parent != nil {
				return keyOf(g.Near(parent.bytes()))
			}
			return keyOf(g.New())
		}
	}
}

// objectIDs follow the specification of ObjectId: seconds, five random bytes per process, a counter of three bytes
// with a random start. The driver's own generator has one process and one clock for all.
func objectIDs(r *rand.ChaCha8) minter {
	process, counter := r.Uint64(), uint32(r.Uint64())
	return func(now time.Time, _ *key) key {
		counter++
		var b [16]byte
		binary.BigEndian.PutUint64(b[4:], process<<24|uint64(counter&0xffffff))
		binary.BigEndian.PutUint32(b[:], uint32(now.Unix()))
		return keyOf(b)
	}
}

// gregorian is the offset of 1970 from the beginning of the Gregorian calendar, 15 October 1582, in units of 100
// ns.
const gregorian = 0x01b21dd213814000

// version1 follows RFC 9562, section 5.1: the low 32 bits of the time come first, so they wrap every 429.5 seconds.
// No library accepts a clock.
func version1(r *rand.ChaCha8) minter {
	sequence, node := r.Uint64(), r.Uint64()&0xffffffffffff
	return func(now time.Time, _ *key) key {
		t := uint64(now.UnixNano()/100) + gregorian
		return key{t<<32 | t>>32&0xffff<<16 | 1<<12 | t>>48&0xfff, 2<<62 | sequence&0x3fff<<48 | node}
	}
}

// version4 is random except for version and variant: RFC 9562, section 5.4.
func version4(r *rand.ChaCha8) minter {
	return func(time.Time, *key) key {
		return key{r.Uint64()&^0xf000 | 4<<12, r.Uint64()>>2 | 2<<62}
	}
}

// version7 begins with milliseconds, the rest is random: RFC 9562, section 5.7. No library accepts a clock.
func version7(r *rand.ChaCha8) minter {
	return func(now time.Time, _ *key) key {
		return key{uint64(now.UnixMilli())<<16 | 7<<12 | r.Uint64()&0xfff, r.Uint64()>>2 | 2<<62}
	}
}
