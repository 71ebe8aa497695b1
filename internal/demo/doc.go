// SPDX-License-Identifier: Apache-2.0

// Package demo generates dirty records about places, with known truth.
//
//	entity 17                      the truth: name, address, phones, site
//	  │  ├─ copy 0 ─► citydir      Joe's Pizza · 1000 Market St. · (415) 555-2300
//	  │  ├─ copy 1 ─► yellow       JOES PIZZA · 1000 MARKET ST · 415.555.2300 · 00000
//	  │  └─ copy 2 ─► mapcrowd     Joe's Piza · N/A · +1 415 555 2300 · 37.78, -122.41
//	  └─ truth: 17
//
// All data is invented: names are composed from word lists, and telephone numbers use the exchange 555. Twelve in a
// hundred places belong to a chain, with one name in many cities, and some share a switchboard. Records are misspelt,
// abbreviated, out of date, or contain filler such as N/A.
//
// A record is a pure function of the seed, the number of records and its own number, so a stream of a million needs no
// memory, any part can be generated again, and one seed always gives the same data. Records of one place are far apart
// in the stream. Of ten places four have one record, three have two, and one each has three, four and five: 2.2 on
// average. A steady stream (Steady) has the same kinds of places and errors, and continues for ever without growing
// denser.
//
// Views generates page views of the sources; Rollups defines rollups over the records.
package demo
