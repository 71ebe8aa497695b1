// SPDX-License-Identifier: Apache-2.0

// Package mongodb keeps the events of a sink in a collection of MongoDB, one document for each entity ID. Importing it
// registers URLs of this form in package sink:
//
//	mongodb://[USER@]HOST[,HOST]/DATABASE?collection=NAME    also mongodb+srv:
//
//	{_id: UUID, rev: 1125899906842625, op: "upsert", kind: "place", at: "g0-3:18", records: ["crawl:a7"], view: {name: "Joe's", phones: [...]}}
//
// A redirect has its target ID in into; it and a deleted ID have neither records nor a view. The secret is the password
// of the user. The deployment must not lose acknowledged writes, so it must be a replica set or a sharded cluster.
//
// The collection locus_sink in the same database has a document for each sink: the token of the owner that wrote last,
// and the position. A delivery is three steps, without a transaction, so that the collection may be sharded by _id:
//
//	claim:     token of the control document = ours, unless it is higher  ─► a former owner is refused
//	events:    inserted, or replaced where the rev is lower               ─► one that is paused here loses by its rev
//	position:  stored if the token is still ours
//
// If the process dies between them, the events are delivered again under higher revs. There is one gap, which only a
// target with transactions closes: an owner that is paused between the steps while the installation is restored from a
// backup and filled again may afterwards write an ID that the backup does not know.
package mongodb
