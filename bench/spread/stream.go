// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"time"
)

const (
	// seed is that of everything that is drawn.
	seed = 1
	// rate is how many documents arrive in a second.
	rate = 5
	// processes mint them, each with a generator of its own.
	processes = 12
	// family is how many documents one has on average: one founds it, the others belong to it.
	family = 8
	// recent is how many families are still given members: those of two hours.
	recent = 2 * 3600 * rate / family
	// minutes of a day.
	minutes = 24 * 60
)

// began is when the first document arrives. The collection is empty then; the day after is the one that is shown.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// document is one that arrives.
type document struct {
	key key
	// minute it arrives in, counted from when the stream began.
	minute int
	// family is the number of the one it belongs to.
	family int
}

// stream are the documents of some days in the order in which they are minted and arrive: so many a second, from
// whichever process, every eighth of which founds a family. It is the same for each kind, but for the keys.
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
