// SPDX-License-Identifier: Apache-2.0

// Package counter counts hits by minute, hour and day, at a cost that is the same at the end of the day and
// at its begin, with one metric and with a million.
//
//	callers             combiner of a cell            one transaction of the cell
//	Hit ──┐          ┌───────────────────────┐     ┌──────────────────────────────────┐
//	Add ──┼─ check ─►│ who comes while the   │────►│ keys:  was it counted before?    │
//	Add ──┘  place   │ last group is written │     │ Hours  [m00 m01 … m59]    += n   │
//	 ▲               └───────────────────────┘     │ Days   [h00 q00-q03 … day …] += n│
//	 └──── answer, after the commit ◄──────────────│ keys:  counted now               │
//	                                               └──────────────────────────────────┘
//
// A [Recorder] takes hits. It checks them, finds out in which cell each metric lives, and hands them to the
// cell's combiner, where they share a transaction with all that came at the same time. Every hit of a minute
// and a metric becomes one number, which is added to two rows.
//
// # Spans
//
// A [Span] is a row of a fixed size: the 60 minutes of an hour; a day with its 24 hours and 96 quarters of an
// hour, which make the hours and days of every time zone. It is found by its [SpanKey], the time and the
// metric's number: nothing is searched in it and it never grows, so what a hit costs does not depend on
// what was counted before. A gauge has spans of quarters of an hour, in which a minute is its lowest and
// highest reading, their sum, their number, and the last one.
//
// Midnight would make all metrics begin new spans at once. Therefore the next ones are made by chance, some
// time before: by the first hit of a metric in a minute, the more likely the fewer minutes are left. Nothing
// relies on it, since a hit makes the spans that it needs.
//
// # Once
//
// What is sent again, because no answer came, would count again. A [Batch] that has a [Key], or that is the
// next one of a [Producer], counts once: each cell remembers, in the transaction that counts, which of its hits
// it has counted. A repeat is answered from that, and what was refused the first time can be counted still.
// What is remembered is forgotten after [Window]. It goes behind a floor: the cell raises it before it forgets,
// and refuses hits from below it that are to count once. Therefore they bring their times. The floor decides and no
// clock, so a batch counts at most once however late it comes.
//
// A metric's row, with its name and its kind, is written with its first day. If a day has to be made and the row is
// not there, the cell came back from a backup: nothing is counted, and the directory is asked where the metric is now.
//
// # Days that are written apart
//
// A database of documents holds no two of them in one transaction. Its Store is [Apart]: a day of a metric is written
// at once or not at all, and days one by one. So of a batch some days may be counted and others not, and the answer
// says so hit by hit: days that somebody else wrote at the same time are counted anew, without those that are
// written. What is remembered of a batch stands in each of its days, and afterwards in a summary, which lets the days
// forget it. Who asks whether a batch was counted asks days, then summaries, then the floor: one of them knows. What
// was said of once holds as it stands, for each hit; what is not promised is that a batch of several days is counted
// as one, and that several days are read from one snapshot.
//
// # Days that are over
//
// [Recorder.Maintain] packs a day a while after it has ended, to a hundredth of its size if little was counted. A hit
// that comes later goes to open spans again, made anew beside the [ClosedDay], at the cost of any other hit, and
// is packed into it next time: a day always is what is packed and what is open, added up. So nobody has to be kept
// from counting meanwhile, and several processes may pack. Then details that are older than a [Retention] go: first
// minutes, then hours; days stay.
//
// Readers take all that they need of a cell from one snapshot, of days that are written apart each from its own. In
// every answer a day is the sum of its hours, and of its minutes.
//
// # What it promises
//
// A hit that was acknowledged is durable, and in all sums at once. With a key it is counted exactly once if it
// was acknowledged and at most once if it was not. Sums are whole numbers; one that would exceed 2^63 - 1 is
// refused. Who reads sees what was acknowledged before.
//
// It rests on transactions that are held to be one after the other wherever [Store] says that nobody else changes
// what was read; package countertest has the suite that every implementation passes. Where metrics are is up to
// [Cells].
//
// Source: "MongoDB Schema Design at Scale", whose documents per metric and day hold hits by minute and hour, are
// prepared by chance for tomorrow, and are hierarchical since a document is searched from its begin. Here what is
// prepared is smaller, and nothing is searched.
package counter
