// SPDX-License-Identifier: Apache-2.0

// Package kafka delivers the events of a sink to a compacted topic of Kafka, or of brokers that speak its protocol, as
// a driver of package sink. Importing it registers URLs of this form:
//
//	kafka://[USER@]BROKER:9092[,BROKER:9092]/TOPIC[?tls=true][&sasl=plain|scram-sha-256|scram-sha-512]
//
// The key of a message is the ID, its value the JSON of package sink, and its headers rev and op are those of the
// event. A deleted ID has no value: the message is a tombstone, which compaction removes after a while.
//
//	one transaction: TOPIC           id ─► {"id":...,"rev":...,"op":...}    each event of a batch
//	                 TOPIC.progress  TOPIC ─► token, rev, position          the state after them
//
// Both are written in one transaction under the transactional ID locus.TOPIC. So a consumer that reads committed
// messages misses nothing and gets nothing twice, and the revs of a key never fall. A new owner takes the transactional
// ID over before it reads the position: the broker then aborts the transaction of the former owner, and refuses it from
// then on. An owner that finds a higher token in TOPIC.progress gives up.
//
// Missing topics are created, compacted. The user needs to read and write both, and to write the transactional ID.
package kafka
