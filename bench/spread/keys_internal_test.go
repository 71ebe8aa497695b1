// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/locus-db/locus/locality"
)

// Libraries can parse the keys that are laid out here.
func TestKeys_AreWhatTheySay(t *testing.T) {
	t.Parallel()
	now := began.Add(12345*time.Second + 678*time.Millisecond + 900*time.Nanosecond)
	for _, k := range kinds {
		mint := k.minter(rand.NewChaCha8([32]byte{1}))
		first := mint(now, nil)
		id := mint(now.Add(time.Millisecond), &first)
		b := id.bytes()
		switch v := k.value(id).(type) {
		case bson.ObjectID:
			if a := k.value(first).(bson.ObjectID); !v.Timestamp().Equal(now.Truncate(time.Second)) || v[11] != a[11]+1 || !bytes.Equal(v[4:9], a[4:9]) {
				t.Errorf("%s: %v follows %v", k.name, v, a)
			}
		case bson.Binary:
			if v.Subtype != bson.TypeBinaryUUID || !bytes.Equal(v.Data, b[:]) {
				t.Errorf("%s: %v is %v in BSON", k.name, b, v)
			}
		}
		switch u := uuid.UUID(b); k.name {
		case "uuidv1":
			sec, nsec := u.Time().UnixTime()
			if want := now.Add(time.Millisecond); u.Version() != 1 || u.Variant() != uuid.RFC4122 || time.Unix(sec, nsec).Sub(want).Abs() >= 100 {
				t.Errorf("%v is of version %d, %v, and of %v, want %v", u, u.Version(), u.Variant(), time.Unix(sec, nsec), want)
			}
			if uuid.UUID(first.bytes()).ClockSequence() != u.ClockSequence() || [6]byte(u.NodeID()) != [6]byte(b[10:]) {
				t.Errorf("%v and its predecessor are of two processes", u)
			}
		case "uuidv4":
			if u.Version() != 4 || u.Variant() != uuid.RFC4122 {
				t.Errorf("%v is of version %d, %v", u, u.Version(), u.Variant())
			}
		case "uuidv7":
			sec, nsec := u.Time().UnixTime()
			if u.Version() != 7 || u.Variant() != uuid.RFC4122 || time.Unix(sec, nsec).UnixMilli() != now.UnixMilli()+1 {
				t.Errorf("%v is of version %d, %v, and of %v", u, u.Version(), u.Variant(), time.Unix(sec, nsec))
			}
		case "variable", "sequential", "near":
			at := locality.ID(b)
			if z, ok := at.Time(); !ok || z.UnixMilli() != now.UnixMilli()+1 {
				t.Errorf("%s: %v is of %v", k.name, at, z)
			}
			if _, ok := at.WindowCount(); ok != (k.name == "sequential") {
				t.Errorf("%s: %v is sequential: %v", k.name, at, ok)
			}
			if same := at.Position()>>12 == locality.ID(first.bytes()).Position()>>12; same != (k.name != "variable") {
				t.Errorf("%s: %v shares the beginning of %v: %v", k.name, at, locality.ID(first.bytes()), same)
			}
		}
	}
}

// Keys compare like their bytes.
func TestKey_ComparesAsBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a, b := key{r.Uint64N(3) << 62, r.Uint64N(3) << 62}, key{r.Uint64N(3) << 62, r.Uint64N(3) << 62}
		x, y := a.bytes(), b.bytes()
		if a.compare(b) != bytes.Compare(x[:], y[:]) || keyOf(x) != a {
			t.Fatalf("%v and %v compare as %d, their bytes as %d", a, b, a.compare(b), bytes.Compare(x[:], y[:]))
		}
	}
}

// All kinds have the same stream, and keys do not repeat.
func TestStream_IsOneForAllKinds(t *testing.T) {
	t.Parallel()
	const n = 10_000
	var want []document
	for _, k := range kinds {
		seen := map[key]bool{}
		i := 0
		for d := range stream(k, 1) {
			if seen[d.key] {
				t.Fatalf("%s: document %d has the key of another one", k.name, i)
			}
			seen[d.key] = true
			if i == len(want) {
				want = append(want, d)
			}
			if d.minute != want[i].minute || d.family != want[i].family {
				t.Fatalf("%s: document %d is of minute %d, family %d, but in another kind of %d, %d", k.name, i, d.minute, d.family,
					want[i].minute, want[i].family)
			}
			if i++; i == n {
				break
			}
		}
	}
}
