// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// raw returns a document of names and values.
func raw(t testing.TB, pairs ...any) bson.Raw {
	t.Helper()
	doc := bson.D{}
	for i := 0; i < len(pairs); i += 2 {
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	b, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// frame prepends a header.
func frame(opcode int32, rest ...[]byte) []byte {
	b := slices.Concat(append([][]byte{make([]byte, headerSize)}, rest...)...)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	binary.LittleEndian.PutUint32(b[4:], 7)
	binary.LittleEndian.PutUint32(b[8:], 8)
	binary.LittleEndian.PutUint32(b[12:], uint32(opcode))
	return b
}

func flags(f uint32) []byte { return binary.LittleEndian.AppendUint32(nil, f) }

func TestReadMessage_ReadsWhatIsSent(t *testing.T) {
	t.Parallel()
	a, b, body := raw(t, "_id", "a"), raw(t, "_id", "b"), raw(t, "insert", "x", "$db", "db")
	docs := list{"documents", []bson.Raw{a, b}}
	none := list{name: "none"}
	section := func(l list) []byte { return l.append([]byte{1}) }
	main := append([]byte{0}, body...)
	query := append(append([]byte{4, 0, 0, 0}, "admin.$cmd\x00"...), 0, 0, 0, 0, 255, 255, 255, 255)
	for name, tc := range map[string]struct {
		sent []byte
		want message
	}{
		"a body": {frame(opMsg, flags(0), main), message{body: body}},
		"lists": {frame(opMsg, flags(moreToCome), main, section(docs), section(none)),
			message{flags: moreToCome, body: body, lists: []list{docs, none}}},
		"a list first": {frame(opMsg, flags(0), section(docs), main), message{body: body, lists: []list{docs}}},
		"a checksum": {frame(opMsg, flags(checksumPresent|exhaustAllowed), main, []byte{1, 2, 3, 4}),
			message{flags: exhaustAllowed, body: body}},
		"the first hello": {frame(opQuery, query, body), message{opcode: opQuery, prefix: query, body: body}},
		"its answer": {frame(opReply, make([]byte, 20), body),
			message{opcode: opReply, prefix: make([]byte, 20), body: body}},
		"an empty document": {frame(opMsg, flags(0), append([]byte{0}, raw(t)...)), message{body: raw(t)}},
	} {
		got, err := readMessage(bytes.NewReader(tc.sent))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if tc.want.opcode == 0 {
			tc.want.opcode = opMsg
		}
		tc.want.id, tc.want.to = 7, 8
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(message{}, list{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		again, err := readMessage(bytes.NewReader(got.bytes()))
		if err != nil {
			t.Errorf("%s, sent on: %v", name, err)
		}
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(message{}, list{})); diff != "" {
			t.Errorf("%s, sent on (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadMessage_RefusesTheRest(t *testing.T) {
	t.Parallel()
	body := raw(t, "hello", 1)
	main := append([]byte{0}, body...)
	short := frame(opMsg, flags(0), main)
	binary.LittleEndian.PutUint32(short, 15)
	huge := frame(opMsg, flags(0), main)
	binary.LittleEndian.PutUint32(huge, most+1)
	negative := frame(opMsg, flags(0), main)
	binary.LittleEndian.PutUint32(negative, 1<<31)
	for name, tc := range map[string]struct {
		sent []byte
		want string
	}{
		"a length below the header's": {short, "its length is 15"},
		"a length beyond all":         {huge, "its length is 48016385"},
		"a negative length":           {negative, "its length is -2147483648"},
		"an early end":                {frame(opMsg, flags(0), main)[:30], "ends early"},
		"compression":                 {frame(2012, main), "operation 2012"},
		"no flags":                    {frame(opMsg, []byte{0}), "no flags"},
		"no body":                     {frame(opMsg, flags(0)), "no body"},
		"two bodies":                  {frame(opMsg, flags(0), main, main), "a section of kind 0"},
		"an unknown section":          {frame(opMsg, flags(0), main, []byte{2}), "a section of kind 2"},
		"a document too long":         {frame(opMsg, flags(0), []byte{0, 200, 0, 0, 0, 0}), "a document of 200 bytes in 5"},
		"a document without end":      {frame(opMsg, flags(0), []byte{0, 5, 0, 0, 0, 1}), "no message"},
		"a list too long": {frame(opMsg, flags(0), main, []byte{1, 200, 0, 0, 0, 'a', 0}),
			"a list of 200 bytes in 6"},
		"a list without a name":  {frame(opMsg, flags(0), main, []byte{1, 5, 0, 0, 0, 'a'}), "a list without a name"},
		"a query without a name": {frame(opQuery, []byte{0, 0, 0, 0, 'a'}), "no name of a collection"},
		"bytes after a query":    {frame(opQuery, make([]byte, 13), body, []byte{1}), "1 bytes too many"},
		"no checksum":            {frame(opMsg, flags(checksumPresent), []byte{1}), "no checksum"},
	} {
		_, err := readMessage(bytes.NewReader(tc.sent))
		if !errors.Is(err, errWire) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	if _, err := readMessage(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("where none begins: %v, want io.EOF", err)
	}
}

// For any input, a message that was parsed is encoded to something that parses to the same message; and no length
// is trusted before the bytes have arrived.
func FuzzReadMessage(f *testing.F) {
	body := raw(f, "insert", "x", "$db", "db", "ordered", false, "documents", bson.A{raw(f, "_id", 1)})
	docs := list{"documents", []bson.Raw{raw(f, "_id", "a"), raw(f)}}
	f.Add(frame(opMsg, flags(0), append([]byte{0}, body...)))
	f.Add(frame(opMsg, flags(checksumPresent), append([]byte{0}, body...), docs.append([]byte{1}), make([]byte, 4)))
	f.Add(frame(opQuery, make([]byte, 13), body))
	f.Add(frame(opReply, make([]byte, 20), body))
	f.Fuzz(func(t *testing.T, sent []byte) {
		m, err := readMessage(bytes.NewReader(sent))
		if err != nil {
			return
		}
		again, err := readMessage(bytes.NewReader(m.bytes()))
		if err != nil {
			t.Fatalf("sent on: %v", err)
		}
		if diff := cmp.Diff(m, again, cmp.AllowUnexported(message{}, list{})); diff != "" {
			t.Fatalf("-got +sent on:\n%s", diff)
		}
		c, err := commandOf(m)
		if err == nil {
			err = c.honest()
		}
		if err == nil {
			_, _, err = c.operations()
		}
		_ = err // only has to return
	})
}
