// SPDX-License-Identifier: Apache-2.0

// Package source writes the messages of a stream, such as a topic of Kafka, as records, without losing one.
//
//	stream                 owner of the lease source/NAME                          installation
//	partition 0 ─┐         ┌─ Decode: Debezium or JSON ─► a row, put or delete
//	partition 1 ─┼─ Fetch ─┤  Map: a row becomes a record, or a dead letter
//	partition 2 ─┘  1,000  └─ the last of each key ───────────────── Apply ──────► records, durable
//	                                                                   │
//	lag charts  ◄──────────────────── Mark ◄─────────── Save ◄─────────┘
//	                                                     └── position, dead letters and token, one transaction
//
// # No loss
//
// The position is the next offset of every partition. It is stored in the installation, and only after the records of
// all messages before it are durable, or are dead letters stored in the same transaction. A process that ends between
// the two leaves a position whose messages are read again.
//
// The position is never taken from the broker: an installation restored from a backup has the position of that backup,
// and so reads everything that came after it. Brokers get a copy ([Stream.Mark]) so that their charts show the lag.
//
// # Repeats are harmless
//
// Puts are idempotent, and the time of the message is when the record was observed. A message that is older than the
// stored record changes nothing. Of messages with the same time the later one in the stream wins. A deletion
// applies if the record is not newer than its message.
//
// # Gaps
//
// A stream that has dropped messages before they were read, or that was created again, stops the source with an
// error that wraps [ErrGap]. An operator decides whether to continue with the messages that remain.
//
// # Parts
//
// A [Stream] is the consumer of a broker; packages below this one implement it, and package sourcetest certifies an
// implementation. A [Runner] runs a source in one process; any number of processes may run the same one, and the lease
// decides which of them works. The installation provides [Store] and [Target].
package source
