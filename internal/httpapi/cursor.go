// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/locus-db/locus/entity"
)

// A cursor is the last position of a page and the first 16 bytes of an HMAC-SHA256 over the route, the filters and the
// position, in base64url without padding. The position is a puid in 8 bytes, plus one byte each for the points and
// the edits of an entity, or the values of a group, each prefixed by its length.
//
// The key is derived from the salt of the cell map, which all servers of an installation share, so a cursor survives
// restarts and works on any server. The MAC keeps a cursor from being used for another list. It protects no secret: a
// forged cursor gives nothing that the client could not request anyway.
const (
	cursorSum = 16
	// maxPosition is larger than any group.
	maxPosition = 4096
)

// cursorKey derives the key.
func cursorKey(salt [16]byte) []byte {
	mac := hmac.New(sha256.New, salt[:])
	mac.Write([]byte("locus cursor 1"))
	return mac.Sum(nil)
}

// cursor returns the cursor for the next page of a list, "" at the end.
func (s *Server) cursor(c *call, next entity.PUID) string {
	if next == 0 {
		return ""
	}
	return s.seal(c, binary.BigEndian.AppendUint64(nil, uint64(next)))
}

// after reads the cursor of a call, 0 if it has none.
func (s *Server) after(c *call) (entity.PUID, error) {
	position, err := s.unseal(c, "cursor")
	if err != nil || position == nil {
		return 0, err
	}
	if len(position) != 8 {
		return 0, notOfList("cursor")
	}
	return entity.PUID(binary.BigEndian.Uint64(position)), nil
}

// placeCursor returns the cursor for the next page of entities, "" at the end.
func (s *Server) placeCursor(c *call, next entity.Place) string {
	if next == (entity.Place{}) {
		return ""
	}
	return s.seal(c, append(binary.BigEndian.AppendUint64(nil, uint64(next.Anchor)), byte(next.Points), byte(next.Edits)))
}

// afterPlace reads the cursor of a call that lists entities, the zero place if it has none.
func (s *Server) afterPlace(c *call) (entity.Place, error) {
	position, err := s.unseal(c, "cursor")
	if err != nil || position == nil {
		return entity.Place{}, err
	}
	if len(position) != 10 {
		return entity.Place{}, notOfList("cursor")
	}
	return entity.Place{Anchor: entity.PUID(binary.BigEndian.Uint64(position)), Points: int(position[8]),
		Edits: int(position[9])}, nil
}

// groupCursor returns the cursor for the next page of groups, "" at the end.
func (s *Server) groupCursor(c *call, next []string) string {
	if next == nil {
		return ""
	}
	var position []byte
	for _, value := range next {
		position = append(binary.AppendUvarint(position, uint64(len(value))), value...)
	}
	return s.seal(c, position)
}

// afterGroup reads the cursor of a call that lists groups, nil if it has none.
func (s *Server) afterGroup(c *call) (group []string, err error) {
	position, err := s.unseal(c, "after")
	for err == nil && len(position) > 0 {
		size, n := binary.Uvarint(position)
		if n <= 0 || size > uint64(len(position)-n) {
			return nil, notOfList("after")
		}
		end := n + int(size)
		group, position = append(group, string(position[n:end])), position[end:]
	}
	return group, err
}

func (s *Server) seal(c *call, position []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(position, s.cursorMAC(c, position)...))
}

// unseal returns the position in the cursor of a parameter, nil if there is none.
func (s *Server) unseal(c *call, param string) ([]byte, error) {
	text, ok := c.query[param]
	if !ok {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// The decoder skips line breaks, so the length is checked too.
	if err != nil || len(raw) <= cursorSum || len(raw) > maxPosition ||
		len(text) != base64.RawURLEncoding.EncodedLen(len(raw)) {
		return nil, notOfList(param)
	}
	position := raw[:len(raw)-cursorSum]
	if !hmac.Equal(raw[len(position):], s.cursorMAC(c, position)) {
		return nil, notOfList(param)
	}
	return position, nil
}

func notOfList(param string) error {
	return fault(CodeInvalid, "?"+param, "the cursor belongs to another list or other filters: start again without it")
}

// unfiltered are the parameters that may change from page to page.
var unfiltered = map[string]bool{"limit": true, "cursor": true, "after": true, "min_watermark": true, "latest": true,
	"partial": true}

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
		if !unfiltered[p.name] {
			write(c.query[p.name])
		}
	}
	if name := c.r.PathValue("name"); name != "" {
		write(name)
	}
	mac.Write(position)
	return mac.Sum(nil)[:cursorSum]
}
