// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// command is the request in a message.
type command struct {
	name       string
	database   string
	collection string // "" if it has none
	message
}

func commandOf(m message) (command, error) {
	c := command{message: m}
	first, err := m.body.IndexErr(0)
	if err != nil {
		return c, fmt.Errorf("%w: no command: %w", errWire, err)
	}
	c.name = first.Key()
	c.collection, _ = first.Value().StringValueOK()
	if c.name == "getMore" {
		c.collection, _ = m.body.Lookup("collection").StringValueOK()
	}
	c.database, _ = m.body.Lookup("$db").StringValueOK()
	return c, nil
}

// greets reports whether the command is a handshake.
func (c command) greets() bool {
	return slices.Contains([]string{"hello", "isMaster", "ismaster"}, c.name)
}

// honest removes features from a message that would blind the proxy: compression and streamed replies.
func (c *command) honest() error {
	c.flags &^= exhaustAllowed
	if !c.greets() {
		return nil
	}
	var err error
	c.body, err = without(c.body, "compression")
	return err
}

// without returns a document without one of its fields.
func without(doc bson.Raw, name string) (bson.Raw, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	var kept bson.D
	for _, e := range elements {
		if e.Key() != name {
			kept = append(kept, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	if len(kept) == len(elements) {
		return doc, nil
	}
	return bson.Marshal(kept)
}

// listOf returns the name of a command's list of operations, "" if it has none.
func listOf(name string) string {
	switch name {
	case "insert":
		return "documents"
	case "update":
		return "updates"
	case "delete":
		return "deletes"
	}
	return ""
}

// operations returns the operations of a write command, and the command without them.
func (c command) operations() ([]bson.Raw, message, error) {
	name, rest := listOf(c.name), c.message
	rest.lists = nil
	var docs []bson.Raw
	for _, l := range c.lists {
		if l.name == name {
			docs = append(docs, l.docs...)
		} else {
			rest.lists = append(rest.lists, l)
		}
	}
	array, ok := c.body.Lookup(name).ArrayOK()
	if !ok {
		return docs, rest, nil
	}
	values, err := array.Values()
	if err != nil {
		return nil, rest, err
	}
	for _, v := range values {
		doc, ok := v.DocumentOK()
		if !ok {
			return nil, rest, fmt.Errorf("%w: %s of %s are no documents", errWire, name, c.name)
		}
		docs = append(docs, doc)
	}
	rest.body, err = without(c.body, name)
	return docs, rest, err
}

// ordered reports whether the first error ends the command, which is the default.
func (c command) ordered() bool {
	ordered, ok := c.body.Lookup("ordered").BooleanOK()
	return ordered || !ok
}
