// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// suspects are the encodings that text is tried in if it is not Windows-1252: those of files from MS-DOS, from the
// export of a program for the console, and from the Mac.
var suspects = []Encoding{"cp850", "macintosh", "cp437"}

// misread returns the encoding that a text of single bytes is in if Windows-1252 cannot be right: of most words it has
// characters that no word has. A single one is damage. It returns Windows1252 if that is right, and AutoEncoding if no encoding is.
func misread(text []byte) Encoding {
	if isForeignScript(text) {
		return AutoEncoding
	}
	if undefined, bad, good := inWords(text, charmap.Windows1252); undefined+bad < 2 || undefined+bad <= good {
		return Windows1252
	}
	best, most := AutoEncoding, 0
	for _, of := range suspects {
		if undefined, bad, good := inWords(text, charmaps[of]); undefined == 0 && good > most && good > 4*bad {
			best, most = of, good
		}
	}
	return best
}

// inWords decodes the bytes above 127. It counts those without a character, and of those within a word, between a letter and a small
// letter of ASCII, the ones that cannot stand there and the ones that can: small letters, and the signs that words contain.
func inWords(text []byte, page *charmap.Charmap) (undefined, bad, good int) {
	for i, b := range text {
		if b < utf8.RuneSelf {
			continue
		}
		r := page.DecodeByte(b)
		if r == utf8.RuneError || r >= 0x80 && r < 0xa0 {
			undefined++
			continue
		}
		if i == 0 || i+1 == len(text) || !isLetter(text[i-1]) || text[i+1] < 'a' || text[i+1] > 'z' {
			continue
		}
		if unicode.IsLower(r) || strings.ContainsRune("’‘´·\u00ad", r) {
			good++
		} else {
			bad++
		}
	}
	return undefined, bad, good
}

// isForeignScript reports whether most bytes above 127 stand in rows of four and more, as in no language that Windows-1252
// is for: its words are mostly ASCII.
func isForeignScript(text []byte) bool {
	runs, all, run, last := 0, 0, 0, byte(0)
	for _, b := range text {
		if b < utf8.RuneSelf {
			run = 0
			continue
		}
		all++
		if run == 0 || b != last { // a line of dashes is no word
			run++
		}
		if last = b; run == 4 {
			runs += 4
		} else if run > 4 {
			runs++
		}
	}
	return runs >= 8 && 2*runs > all
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
