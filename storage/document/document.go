// SPDX-License-Identifier: Apache-2.0

// Package document is what all backends store alike: of records and changes, beside the columns that are asked
// for, one compact JSON text each; of entities packed bytes; the words of a search; the rows that move with a cell; and bytes as
// columns have them.
package document

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
)

// What cannot be made again is compact JSON, so that people can read a cell with any tool. They are written and read
// by hand, since that is done several times for every record; a document that other hands have
// written is read by encoding/json.

// AppendAttributes appends attributes to b, their names in order.
func AppendAttributes(b []byte, attributes entity.Attributes) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':', '[')
		for k, value := range attributes[name] {
			if k > 0 {
				b = append(b, ',')
			}
			b = appendString(b, value)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// ParseAttributes reads what AppendAttributes writes, or any JSON that means the same.
func ParseAttributes(text string) (entity.Attributes, error) {
	s := scan{rest: text}
	attributes := s.attributes()
	if s.done() {
		return attributes, nil
	}
	attributes = entity.Attributes{}
	return attributes, json.Unmarshal([]byte(text), &attributes)
}

func (s *scan) attributes() entity.Attributes {
	attributes := make(entity.Attributes, 12)
	s.object(func() {
		name := s.string()
		s.literal(":")
		values := make([]string, 0, 1)
		s.list(func() { values = append(values, s.string()) })
		attributes[name] = values
	})
	return attributes
}

// AppendVersions appends members of a change to b, as [[puid, version], ...].
func AppendVersions(b []byte, members []changelog.Version) []byte {
	b = append(b, '[')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '['), int64(m.PUID), 10)
		b = strconv.AppendInt(append(b, ','), m.Version, 10)
		b = append(b, ']')
	}
	return append(b, ']')
}

// ParseVersions reads what AppendVersions writes; the empty text has no members.
func ParseVersions(text string) ([]changelog.Version, error) {
	if text == "" {
		return nil, nil
	}
	var members []changelog.Version
	s := scan{rest: text}
	s.list(func() {
		var m changelog.Version
		s.literal(`[`)
		m.PUID = entity.PUID(s.number())
		s.literal(`,`)
		m.Version = s.number()
		s.literal(`]`)
		members = append(members, m)
	})
	if s.done() {
		return members, nil
	}
	var pairs [][2]int64
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, err
	}
	members = nil
	for _, p := range pairs {
		members = append(members, changelog.Version{PUID: entity.PUID(p[0]), Version: p[1]})
	}
	return members, nil
}

// AppendImage appends what an entity or a record says to b.
func AppendImage(b []byte, im *changelog.Image) []byte {
	b = appendString(append(b, `{"kind":`...), im.Kind)
	b = append(b, `,"sources":[`...)
	for i, source := range im.Sources {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, source)
	}
	b = append(b, ']')
	if im.Outcome != "" {
		b = appendString(append(b, `,"outcome":`...), im.Outcome)
	}
	b = AppendAttributes(append(b, `,"attributes":`...), im.Attributes)
	return append(b, '}')
}

// ParseImage reads what AppendImage writes, or any JSON that means the same; the empty text is no image.
func ParseImage(text string) (*changelog.Image, error) {
	if text == "" {
		return nil, nil
	}
	im := &changelog.Image{Sources: make([]string, 0, 2)}
	s := scan{rest: text}
	s.literal(`{"kind":`)
	im.Kind = s.string()
	s.literal(`,"sources":`)
	s.list(func() { im.Sources = append(im.Sources, s.string()) })
	if s.skip(',') && strings.HasPrefix(s.rest, `"outcome"`) {
		s.literal(`"outcome":`)
		im.Outcome = s.string()
		s.literal(`,`)
	}
	s.literal(`"attributes":`)
	im.Attributes = s.attributes()
	s.literal(`}`)
	if s.done() {
		return im, nil
	}
	im = &changelog.Image{}
	return im, json.Unmarshal([]byte(text), im)
}

// appendString writes a string of valid UTF-8.
func appendString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		if c >= 0x20 {
			b = append(b, '\\', c)
		} else {
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}
