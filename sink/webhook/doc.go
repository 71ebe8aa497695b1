// SPDX-License-Identifier: Apache-2.0

// Package webhook delivers the events of a sink as signed HTTP requests, one for each event.
//
//	POST /locus HTTP/1.1
//	Content-Type: application/json
//	webhook-id: hook.80e5….1125899906842625          name.id.rev: the same for every attempt of an event
//	webhook-timestamp: 1795478400                    seconds since 1970, of this attempt
//	webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1,…
//
//	{"id":"80e5…","rev":"1125899906842625","op":"upsert","kind":"place","records":["crawl:a7"],"view":{…}}
//
// The headers are those of Standard Webhooks, so its libraries verify the requests. During a rotation there are two
// secrets, and a signature for each.
//
// A status 2xx accepts the event. 408, 425, 429 and 5xx, timeouts and broken connections are retried by the runner. 410
// pauses the sink. Any other status makes a dead letter, and so do redirects, which are never followed, because the
// receiver of a signed request must not choose another receiver. Requests go over TLS, except to this host.
package webhook
