// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
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

// sniffEncoding returns the encoding of a file by its first bytes, and the length of its byte order mark. It returns
// AutoEncoding if all bytes are ASCII.
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
	// One damaged line must not change the encoding of the file, so the majority decides.
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

// sniffUTF16 decides by the zero bytes: in Latin text every second byte is zero, in other text only those of delimiters
// and line ends.
func sniffUTF16(head []byte) Encoding {
	head = head[:min(len(head), 4096)&^1]
	zeros := bytes.Count(head, []byte{0})
	// a few zero bytes are damage
	if zeros == 0 || 4*zeros < len(head) && isPlain(head[:bytes.LastIndexByte(head, '\n')+1]) {
		return AutoEncoding
	}
	little, big := likeUTF16(head, binary.LittleEndian), likeUTF16(head, binary.BigEndian)
	switch {
	case little > big:
		return UTF16LE
	case big > little:
		return UTF16BE
	}
	return AutoEncoding
}

// isPlain reports whether a text but for zero bytes is UTF-8 without control characters, of which UTF-16 has many.
func isPlain(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return r > 0 && r < ' ' && !unicode.IsSpace(r) })
}

// likeUTF16 returns how many ASCII characters a text has if it is read as UTF-16, 0 if it would contain characters that
// do not occur in text.
func likeUTF16(head []byte, order binary.ByteOrder) (ascii int) {
	units := make([]uint16, len(head)/2)
	for i := range units {
		units[i] = order.Uint16(head[2*i:])
	}
	wrong := 0
	for i, r := range utf16.Decode(units) {
		switch {
		case r == '\n', r == '\r', r == '\t', r >= ' ' && r < utf8.RuneSelf-1:
			ascii++
		case r == utf8.RuneError && i+1 == len(units), r > utf8.RuneSelf && (unicode.IsGraphic(r) || unicode.In(r, unicode.Co, unicode.Cf)):
		default:
			wrong++
		}
	}
	if 100*wrong > len(units) || len(units) < 2 {
		return 0
	}
	return ascii
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
		// The decoder puts this character in place of invalid bytes.
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
