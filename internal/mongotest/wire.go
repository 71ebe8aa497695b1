// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Operation codes of MongoDB's protocol. A driver's handshake uses opQuery, everything else opMsg.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013
)

// Flags of opMsg.
const (
	checksumPresent = 1 << 0
	moreToCome      = 1 << 1
	exhaustAllowed  = 1 << 16
)

const (
	headerSize   = 16
	checksumSize = 4
	// most is the maximum message size of a server, plus some for the framing.
	most = 48_000_000 + 16<<10
)

// message is a message of MongoDB's protocol: a command or a reply.
type message struct {
	id     int32 // of the sender
	to     int32 // the id of the message it replies to
	opcode int32
	flags  uint32
	body   bson.Raw
	// lists are the document sequences after the body; they represent arrays in it.
	lists []list
	// prefix precedes the document in an opQuery or opReply.
	prefix []byte
}

// list is a document sequence.
type list struct {
	name string
	docs []bson.Raw
}

// errWire means that the bytes are not a message.
var errWire = errors.New("mongotest: no message of MongoDB's protocol")

// readMessage reads the next message. The error is io.EOF at the end of the stream.
func readMessage(r io.Reader) (message, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err
	}
	size := int(int32(binary.LittleEndian.Uint32(head[0:])))
	if size < headerSize || size > most {
		return message{}, fmt.Errorf("%w: its length is %d", errWire, size)
	}
	// The length is not trusted: memory is allocated as the bytes arrive.
	var rest bytes.Buffer
	if _, err := io.CopyN(&rest, r, int64(size-headerSize)); err != nil {
		return message{}, fmt.Errorf("%w: it ends early: %w", errWire, err)
	}
	m := message{
		id:     int32(binary.LittleEndian.Uint32(head[4:])),
		to:     int32(binary.LittleEndian.Uint32(head[8:])),
		opcode: int32(binary.LittleEndian.Uint32(head[12:])),
	}
	var err error
	switch m.opcode {
	case opMsg:
		err = m.parseMsg(rest.Bytes())
	case opQuery:
		err = m.parseQuery(rest.Bytes())
	case opReply:
		err = m.parseReply(rest.Bytes())
	default:
		err = fmt.Errorf("%w: operation %d", errWire, m.opcode)
	}
	return m, err
}

// parseMsg parses flags, then sections: one body and any number of lists. A checksum is dropped, with its flag.
func (m *message) parseMsg(b []byte) error {
	if len(b) < 4 {
		return fmt.Errorf("%w: no flags", errWire)
	}
	m.flags, b = binary.LittleEndian.Uint32(b), b[4:]
	if m.flags&checksumPresent != 0 {
		if len(b) < checksumSize {
			return fmt.Errorf("%w: no checksum", errWire)
		}
		b, m.flags = b[:len(b)-checksumSize], m.flags&^checksumPresent
	}
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		var err error
		switch {
		case kind == 0 && m.body == nil:
			m.body, b, err = readDocument(b)
		case kind == 1:
			var l list
			if l, b, err = readList(b); err == nil {
				m.lists = append(m.lists, l)
			}
		default:
			err = fmt.Errorf("%w: a section of kind %d", errWire, kind)
		}
		if err != nil {
			return err
		}
	}
	if m.body == nil {
		return fmt.Errorf("%w: no body", errWire)
	}
	return nil
}

// parseQuery parses flags, the name of a collection, two numbers and the command.
func (m *message) parseQuery(b []byte) error {
	if len(b) < 4 {
		return fmt.Errorf("%w: no flags", errWire)
	}
	end := bytes.IndexByte(b[4:], 0)
	if end < 0 || len(b) < 4+end+1+8 {
		return fmt.Errorf("%w: no name of a collection", errWire)
	}
	return m.parseAfter(b, 4+end+1+8)
}

// parseReply parses flags, a cursor, two numbers and the document.
func (m *message) parseReply(b []byte) error {
	const before = 4 + 8 + 4 + 4
	if len(b) < before {
		return fmt.Errorf("%w: no document", errWire)
	}
	return m.parseAfter(b, before)
}

func (m *message) parseAfter(b []byte, before int) error {
	var err error
	m.prefix = b[:before]
	m.body, b, err = readDocument(b[before:])
	if err == nil && len(b) > 0 {
		err = fmt.Errorf("%w: %d bytes too many", errWire, len(b))
	}
	return err
}

func readDocument(b []byte) (bson.Raw, []byte, error) {
	if len(b) < 5 {
		return nil, nil, fmt.Errorf("%w: no document", errWire)
	}
	size := int(int32(binary.LittleEndian.Uint32(b)))
	if size < 5 || size > len(b) {
		return nil, nil, fmt.Errorf("%w: a document of %d bytes in %d", errWire, size, len(b))
	}
	doc := bson.Raw(b[:size:size])
	if err := doc.Validate(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errWire, err)
	}
	return doc, b[size:], nil
}

func readList(b []byte) (list, []byte, error) {
	if len(b) < 4 {
		return list{}, nil, fmt.Errorf("%w: no length of a list", errWire)
	}
	size := int(int32(binary.LittleEndian.Uint32(b)))
	if size < 5 || size > len(b) {
		return list{}, nil, fmt.Errorf("%w: a list of %d bytes in %d", errWire, size, len(b))
	}
	inside, rest := b[4:size], b[size:]
	name, inside, found := bytes.Cut(inside, []byte{0})
	if !found {
		return list{}, nil, fmt.Errorf("%w: a list without a name", errWire)
	}
	l := list{name: string(name)}
	for len(inside) > 0 {
		doc, after, err := readDocument(inside)
		if err != nil {
			return list{}, nil, err
		}
		l.docs, inside = append(l.docs, doc), after
	}
	return l, rest, nil
}

// bytes returns the encoded message.
func (m message) bytes() []byte {
	b := make([]byte, headerSize, headerSize+len(m.prefix)+len(m.body)+64)
	if m.opcode != opMsg {
		b = append(append(b, m.prefix...), m.body...)
	} else {
		b = binary.LittleEndian.AppendUint32(b, m.flags)
		b = append(append(b, 0), m.body...)
		for _, l := range m.lists {
			b = l.append(append(b, 1))
		}
	}
	binary.LittleEndian.PutUint32(b[0:], uint32(len(b)))
	binary.LittleEndian.PutUint32(b[4:], uint32(m.id))
	binary.LittleEndian.PutUint32(b[8:], uint32(m.to))
	binary.LittleEndian.PutUint32(b[12:], uint32(m.opcode))
	return b
}

func (l list) append(b []byte) []byte {
	start := len(b)
	b = append(append(append(b, 0, 0, 0, 0), l.name...), 0)
	for _, doc := range l.docs {
		b = append(b, doc...)
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start))
	return b
}

// answer returns a reply to the message.
func (m message) answer(body bson.D) (message, error) {
	doc, err := bson.Marshal(body)
	return message{opcode: opMsg, to: m.id, body: doc}, err
}
