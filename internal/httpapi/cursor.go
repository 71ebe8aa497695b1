// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/locus-db/locus/entity"
)

// A cursor is 24 bytes in base64url without padding: the puid that the page ended with, and the
// first 16 bytes of an HMAC-SHA256 over the route, the filters and the puid.
//
// The key is derived from the salt of the cell map, which every server of an installation reads from
// the same place: a cursor outlives a restart and is good at any of them. It keeps a page's cursor
// from being taken to another list, and nothing secret: whoever could forge one could as well have
// asked for the page.
const cursorSize = 8 + 16

var errCursor = fault(CodeInvalid, "?cursor", "the cursor is not one of this list with these filters: begin again without it")

// cursorKey derives the key.
func cursorKey(salt [16]byte) []byte {
	mac := hmac.New(sha256.New, salt[:])
	mac.Write([]byte("locus cursor 1"))
	return mac.Sum(nil)
}

// cursor is where the next page of the call's list begins, "" if there is none.
func (s *Server) cursor(c *call, next entity.PUID) string {
	if next == 0 {
		return ""
	}
	raw := binary.BigEndian.AppendUint64(make([]byte, 0, cursorSize), uint64(next))
	return base64.RawURLEncoding.EncodeToString(append(raw, s.cursorMAC(c, raw)...))
}

// after reads the cursor of a call, 0 if it has none.
func (s *Server) after(c *call) (entity.PUID, error) {
	text, ok := c.query["cursor"]
	if !ok {
		return 0, nil
	}
	// The decoder passes over line breaks, so the length is looked at first.
	if len(text) != base64.RawURLEncoding.EncodedLen(cursorSize) {
		return 0, errCursor
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != cursorSize || !hmac.Equal(raw[8:], s.cursorMAC(c, raw[:8])) {
		return 0, errCursor
	}
	return entity.PUID(binary.BigEndian.Uint64(raw)), nil
}

func (s *Server) cursorMAC(c *call, position []byte) []byte {
	mac := hmac.New(sha256.New, s.cursorKey)
	write := func(text string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		mac.Write(size[:])
		mac.Write([]byte(text))
	}
	write(c.route.path)
	for _, p := range c.route.query {
		if p.name != "limit" && p.name != "cursor" {
			write(c.query[p.name])
		}
	}
	mac.Write(position)
	return mac.Sum(nil)[:cursorSize-8]
}
