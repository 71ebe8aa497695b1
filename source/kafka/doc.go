// SPDX-License-Identifier: Apache-2.0

// Package kafka reads topics of Kafka, and of brokers that speak its protocol, as a driver of package source. Importing
// it registers URLs of this form:
//
//	kafka://[USER@]BROKER:9092[,BROKER:9092]/TOPIC[?tls=true][&sasl=plain|scram-sha-256|scram-sha-512]
//
// All partitions are read, including ones that are added later. Messages of a transaction are read once it is
// committed. The position is copied to the consumer group locus-NAME, which has no members, for the charts of others.
package kafka
