// SPDX-License-Identifier: Apache-2.0

// Package nats reads streams of NATS JetStream, as a driver of package source. Importing it makes URLs of this form
// known:
//
//	nats://[USER@]HOST:4222[,HOST:4222]/STREAM[?subject=crm.>][&tls=true]
//
// A stream has one partition, 0, whose offsets are the sequence numbers of JetStream. It is read by an ordered
// consumer, which leaves nothing at the server. The secret is the password of the user, or a token without one. The key
// of a message is its subject; of a key-value bucket, KV_NAME, it is the key, and a deleted key is an empty message.
package nats
