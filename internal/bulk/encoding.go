// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/strictjson"
)

// Encoding is the encoding of the text of a file.
type Encoding string

// Encodings that are recognised. AutoEncoding is decided by a byte order mark, by the zero bytes of UTF-16, or by lines
// with a byte above 127: UTF-8 if they are valid UTF-8, Windows-1252 if they are not.
const (
	AutoEncoding Encoding = ""
	UTF8         Encoding = "utf-8"
	UTF16LE      Encoding = "utf-16le"
	UTF16BE      Encoding = "utf-16be"
	Windows1252  Encoding = "windows-1252"
)

// sniffEncoding returns the encoding of a file by its first bytes, and the length of its byte order mark. It is
// AutoEncoding if all of them are ASCII.
func sniffEncoding(head []byte) (of Encoding, mark int) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return UTF8, 3
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return UTF16LE, 2
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return UTF16BE, 2
	}
	if of := sniffUTF16(head); of != AutoEncoding {
		return of, 0
	}
	// One damaged line must not turn the others into another encoding: the majority decides.
	utf, other := 0, 0
	for line := range bytes.Lines(head) {
		switch {
		case isASCII(line):
		case utf8.Valid(line):
			utf++
		case ended(line): // the last line may be cut within a character
			other++
		}
	}
	switch {
	case utf > 0 && utf >= other:
		return UTF8, 0
	case other > 0:
		return Windows1252, 0
	}
	return AutoEncoding, 0
}

// sniffUTF16 decides by the bytes that are zero: of Latin text every second one is.
func sniffUTF16(head []byte) Encoding {
	head = head[:min(len(head), 1024)&^1]
	var zero [2]int
	for i, b := range head {
		if b == 0 {
			zero[i&1]++
		}
	}
	switch most := len(head) / 4; {
	case len(head) < 4:
	case zero[1] > most && zero[0] == 0:
		return UTF16LE
	case zero[0] > most && zero[1] == 0:
		return UTF16BE
	}
	return AutoEncoding
}

func isASCII(text []byte) bool {
	const high = 0x8080808080808080
	for len(text) >= 8 {
		if binary.LittleEndian.Uint64(text)&high != 0 {
			return false
		}
		text = text[8:]
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// decode returns a line as UTF-8, valid until the next call, and sets bad.
func (l *lines) decode(line []byte, cut bool) []byte {
	if l.bad = -1; isASCII(line) {
		return line
	}
	if l.encoding == AutoEncoding {
		if l.encoding = Windows1252; utf8.Valid(line) || cut {
			l.encoding = UTF8
		}
	}
	if page := charmaps[l.encoding]; page != nil {
		l.text = l.text[:0]
		for i, b := range line {
			r := page.DecodeByte(b)
			if r == utf8.RuneError && l.bad < 0 {
				l.bad = i
			}
			l.text = utf8.AppendRune(l.text, r)
		}
		return l.text
	}
	switch {
	case multibyte[l.encoding] != nil:
		// The decoder has put this character in the place of what it could not read.
		l.bad = bytes.IndexRune(line, utf8.RuneError)
	case !cut:
		l.bad = strictjson.InvalidUTF8(line)
	}
	return line
}

// encodingName returns the encoding for messages.
func (l *lines) encodingName() string {
	if name := map[Encoding]string{UTF8: "UTF-8", UTF16LE: "UTF-16", UTF16BE: "UTF-16", Windows1252: "Windows-1252"}[l.encoding]; name != "" {
		return name
	}
	return string(l.encoding)
}
