// SPDX-License-Identifier: Apache-2.0

// Package nats delivers the events of a sink to a stream of NATS JetStream, as a driver of package sink. Importing it
// makes URLs of this form known:
//
//	nats://[USER@]HOST:4222[,HOST:4222]/STREAM[?subject=PREFIX][&tls=true]
//
// An event is a message on the subject PREFIX.ID, by default STREAM.ID, with the JSON of package sink as its content
// and NAME.ID.REV as its Nats-Msg-Id. A stream that is missing is created: it keeps the last message of each subject,
// so that a consumer that reads it from the beginning gets the state of every ID. The secret is the password of the
// user, or a token without one.
//
//	paused owner: last message of the subject is 7 ─┐                 publish, if 7 is still the last ─► refused
//	new owner:                                      └─► publish, 8
//
// JetStream stores no position: Locus does. Before an event is published, the last message of its subject is read: if
// its rev is higher, the event is dropped; if the token of its owner is higher, the sink is fenced. JetStream accepts
// the event only if no other message was stored under the subject since. So the revs of a subject never fall, even if
// an owner is paused between reading and publishing.
package nats
