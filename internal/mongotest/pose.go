// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TrustedURI is URI for a test that acts like a user, without UnsafeDurability. Through this URI a stand-in reports
// to Locus that it is a member of a replica set.
func TrustedURI(t testing.TB) string {
	t.Helper()
	uri := URI(t)
	if On(t).Durable {
		return uri
	}
	p := NewProxy(t, uri)
	p.poses.Store(true)
	return patient(p.URI())
}

// posed replaces a stand-in's handshake reply by that of a replica set member. A driver, which sends helloOk, gets
// the original reply: otherwise it would use features that the stand-in lacks.
func posed(c command, reply message) (message, error) {
	_, err := c.body.LookupErr("helloOk")
	if driver := err == nil; driver || !c.greets() && c.name != "buildInfo" {
		return reply, nil
	}
	elements, err := reply.body.Elements()
	if err != nil {
		return message{}, err
	}
	var body bson.D
	for _, e := range elements {
		if !strings.HasPrefix(e.Key(), "ferretdb") {
			body = append(body, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	if c.greets() {
		body = append(body, bson.E{Key: "setName", Value: "rs0"})
	}
	return c.answer(body)
}
