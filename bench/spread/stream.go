// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"time"
)

const (
	// seed of all random numbers.
	seed = 1
	// rate is the number of documents per second.
	rate = 5
	// processes is the number of minting processes, each with a generator of its own.
	processes = 12
	// family is the average size of a family in documents, including the one that founds it.
	family = 8
	// recent is the number of families that still get members: those of two hours.
	recent = 2 * 3600 * rate / family
	// minutes of a day.
	minutes = 24 * 60
)

// began is when the first document arrives. The collection is empty then; the following day is the one that is
// shown.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// document is a document that arrives.
type document struct {
	key key
	// minute of arrival, counted from the beginning of the stream.
	minute int
	// family is the number of its family.
	family int
}

// stream yields the documents of some days in the order of minting and arrival: rate per second, from random
// processes; one in eight founds a family. It is the same for each kind except for the keys.
func stream(k kind, days int) iter.Seq[document] {
	return func(yield func(document) bool) {
		draw := rand.New(rand.NewPCG(seed, 0))
		mint := make([]minter, processes)
		for i := range mint {
			var own [32]byte
			binary.LittleEndian.PutUint64(own[:], seed)
			binary.LittleEndian.PutUint64(own[8:], uint64(i))
			mint[i] = k.minter(rand.NewChaCha8(own))
		}
		var founders [recent]key
		for i := range days * minutes * 60 * rate {
			d := document{minute: i / (60 * rate), family: i / family}
			now := began.Add(time.Duration(i) * (time.Second / rate))
			process := mint[draw.IntN(processes)]
			if i%family == 0 {
				d.key = process(now, nil)
				founders[d.family%recent] = d.key
			} else {
				d.family -= draw.IntN(min(recent, d.family+1))
				d.key = process(now, &founders[d.family%recent])
			}
			if !yield(d) {
				return
			}
		}
	}
}
