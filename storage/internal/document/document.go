// SPDX-License-Identifier: Apache-2.0

// Package document defines the formats that all backends share: records and changes are compact JSON texts, stored next
// to the columns that are queried; entities are packed bytes. It also defines the words of a search index, the rows
// that move with a cell, and columns of bytes.
package document

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
)

// Data that cannot be derived again is compact JSON, so that a cell can be read with any tool. It is encoded and
// parsed by hand, because this happens several times per record; JSON in another layout falls back to
// encoding/json.

// AppendAttributes appends attributes to b, sorted by name.
func AppendAttributes(b []byte, attributes entity.Attributes) []byte {
	var stack [32]string
	names := stack[:0]
	for name := range attributes { // without the function values of maps.Keys
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
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

// ParseAttributes parses the output of AppendAttributes, or any equivalent JSON.
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
	single := make([]string, 12) // most attributes have one value
	s.object(func() {
		name := s.string()
		s.literal(":")
		var values []string
		if len(single) > 0 {
			values, single = single[:0:1], single[1:]
		} else {
			values = make([]string, 0, 1)
		}
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

// ParseVersions parses the output of AppendVersions; the empty text has no members.
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

// AppendImage appends the image of an entity or record to b.
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

// ParseImage parses the output of AppendImage, or any equivalent JSON; the empty text is nil.
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

// appendString appends a string of valid UTF-8 as JSON.
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

// Decision returns the text of a decision without its time, which is a column.
func Decision(d entity.Decision) (string, error) {
	d.At = time.Time{}
	text, err := json.Marshal(&d)
	return string(text), err
}

// ParseDecision parses the output of Decision.
func ParseDecision(text string, at int64) (d entity.Decision, err error) {
	err = json.Unmarshal([]byte(text), &d)
	d.At = time.UnixMilli(at).UTC()
	return d, err
}
