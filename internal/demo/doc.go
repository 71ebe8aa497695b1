// SPDX-License-Identifier: Apache-2.0

// Package demo makes up dirty records about places whose truth is known.
//
//	entity 17                      what is so: name, address, phones, site
//	  │  ├─ copy 0 ─► citydir      Joe's Pizza · 1000 Market St. · (415) 555-2300
//	  │  ├─ copy 1 ─► yellow       JOES PIZZA · 1000 MARKET ST · 415.555.2300 · 00000
//	  │  └─ copy 2 ─► mapcrowd     Joe's Piza · N/A · +1 415 555 2300 · 37.78, -122.41
//	  └─ truth: 17
//
// All of it is invented: names are composed from word lists, telephone numbers have the exchange
// 555. Twelve in a hundred places belong to a chain, which has one name in many cities; some share
// a switchboard; records are misspelt, abbreviated, out of date, and hold what people type when
// they have nothing to say.
//
// A record is a pure function of the seed, the number of records and its own number, so a stream
// of a million takes no memory, any part of it can be made again, and one seed tells one story.
// The records of a place stand far apart in the stream. Of ten places four have one record, three
// two, one each three, four and five: 2.2 on the average. A steady stream (Steady) has the same places and the same
// habits, and goes on for ever without growing denser.
//
// The pages of the sources are looked at, too: Views. Rollups count what the records say.
package demo
