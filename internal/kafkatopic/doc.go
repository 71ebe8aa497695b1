// SPDX-License-Identifier: Apache-2.0

// Package kafkatopic connects to the topic of Kafka that a URL names, for the drivers of sources and sinks:
//
//	kafka://[USER@]BROKER:9092[,BROKER:9092]/TOPIC[?tls=true][&sasl=plain|scram-sha-256|scram-sha-512]
//
// The secret of the source or sink is the password of the user.
package kafkatopic
