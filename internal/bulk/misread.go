// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/locus-db/locus/match"
)

// language is the set of lower-case letters beyond ASCII of a language, or of several that are written together, and
// the single-byte encodings that such text is exported in, the most likely first.
type language struct {
	letters string
	pages   []Encoding
}

// languages are distinguished by their letters: only the encoding of a text turns its bytes into words of one language.
var languages = func() []language {
	western := []Encoding{Windows1252, "cp850", "macintosh", "cp437"}
	central, cyrillic := []Encoding{"windows-1250", "iso-8859-2", "cp852"}, []Encoding{"windows-1251", "koi8-r", "cp866", "iso-8859-5"}
	greek := []Encoding{"windows-1253", "iso-8859-7"}
	return []language{
		{"äöüßé", western}, {"àâçéèêëîïôùûœ", western}, {"áéíóúüñºª", western}, {"àèéìòùî", western}, {"áâãàçéêíóôõúº", western}, {"éèëïöüó", western},
		{"åäöé", western}, {"æøåéöü", western}, {"áéíóúýþæöð", western}, {"äöõüšž", western},
		{"ąćęłńóśźż", central}, {"áčďéěíňóřšťúůýž", central}, {"áäčďéíĺľňóôŕšťúýž", central}, {"áéíóöőúüű", central}, {"ăâîşţ", central}, {"čćžšđ", central},
		{"çğıöşüâî", []Encoding{"windows-1254", "iso-8859-9"}}, {"ąčęėįšųūž", []Encoding{"windows-1257"}}, {"āčēģīķļņšūž", []Encoding{"windows-1257"}},
		{"абвгдежзийклмнопрстуфхцчшщъыьэюяё№", cyrillic}, {"абвгдежзийклмнопрстуфхцчшщьюяіїєґ№", cyrillic}, {"абвгдежзийклмнопрстуфхцчшђјљњћџ", cyrillic},
		{"αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋ", greek},
	}
}()

// judged is how many bytes of a text are examined.
const judged = 16 << 10

// misread returns the encoding of a text that is not UTF-8. It prefers another encoding to Windows-1252 if the header
// then has more known names, and the words have clearly more letters of one language and fewer characters that occur in
// no word. It returns Windows1252 if that is right, and AutoEncoding if no encoding is.
func misread(text []byte, kinds []*match.Schema) Encoding {
	text = text[:min(len(text), judged)]
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[:i+1]
	}
	best, most := AutoEncoding, 0
	decoded := map[Encoding]string{}
	decode := func(of Encoding) string {
		if decoded[of] == "" {
			decoded[of] = decodeAll(text, charmaps[of])
		}
		return decoded[of]
	}
	judge := func(of Encoding, decoded string, score int) {
		if decoded == "" {
			return
		}
		if decoded == decode(Windows1252) {
			of = Windows1252 // most files are
		}
		margin := 1
		if best == Windows1252 {
			margin = 3 // most files are, and lists of several countries have letters of others by chance
		}
		if score += headerScore(decoded, kinds); best == AutoEncoding && score > 0 || of == best && score > most || score > most+margin {
			best, most = of, score
		}
	}
	// shared by several countries, so each letter is weaker evidence
	western := language{"äöüßàâçéèêëîïôùûœñáíóúãõåæøìò", languages[0].pages}
	for _, of := range western.pages {
		judge(of, decode(of), western.score(decode(of))/2)
	}
	for _, l := range languages {
		for _, of := range l.pages {
			judge(of, decode(of), l.score(decode(of)))
		}
	}
	for _, of := range wideText {
		if text, err := multibyte[of.encoding].NewDecoder().Bytes(text); err == nil && !bytes.ContainsRune(text, utf8.RuneError) {
			judge(of.encoding, string(text), of.score(text))
		}
	}
	high := 0
	for _, b := range text {
		if b >= utf8.RuneSelf {
			high++
		}
	}
	switch {
	case most >= 3 && 2*most >= high:
		return best
	case isForeignScript(text) || western.score(decoded[Windows1252]) < -2:
		return AutoEncoding
	}
	return Windows1252
}

// decodeAll decodes a text of single bytes. A byte without a character becomes utf8.RuneError.
func decodeAll(text []byte, page *charmap.Charmap) string {
	var b strings.Builder
	for _, c := range text {
		b.WriteRune(page.DecodeByte(c))
	}
	return b.String()
}

// score counts the letters of the language in a text, minus two for each character in an impossible place: letters of
// other languages, two scripts in a word, a capital inside a word, a sign before a small letter of a word.
func (l language) score(text string) (score int) {
	last := ' '
	for i, r := range text {
		before := last
		if last = r; r < utf8.RuneSelf {
			continue
		}
		small := unicode.ToLower(r)
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case r == utf8.RuneError, r < 0xa0, r >= 0x2500 && r < 0x25a0: // no character, or part of a frame
			score -= 2
		case unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) && (unicode.Is(unicode.Latin, before) || unicode.Is(unicode.Latin, next)):
			score -= 2
		case unicode.IsLetter(r) && (!strings.ContainsRune(l.letters, small) || r != small && unicode.IsLower(before)):
			score -= 2
		case unicode.IsLetter(r), strings.ContainsRune(l.letters, small):
			score++
		case unicode.IsLetter(before) && unicode.IsLower(next) && !strings.ContainsRune("’‘´·\u00ad", r):
			score -= 2
		}
	}
	return score
}

// headerScore counts the names of columns beyond ASCII in the first lines that mean something.
func headerScore(text string, kinds []*match.Schema) (score int) {
	for range 3 {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		for _, name := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;\t|\"\r", r) }) {
			if len(name) <= 200 && !isASCII([]byte(name)) && isHeaderName(strings.TrimSpace(name), kinds) {
				score += 3
			}
		}
	}
	return score
}

// wide is an encoding of two bytes a character: the first bytes of its common characters, and the scripts of its
// language.
type wide struct {
	encoding Encoding
	from, to byte
	own      []*unicode.RangeTable
}

// wideText are the encodings of Chinese, Japanese and Korean. Text in one of them can mostly be decoded by the others,
// too, but gives rare characters.
var wideText = []wide{
	{"shift_jis", 0x88, 0x97, []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{"euc-jp", 0xb0, 0xcf, []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{"euc-kr", 0xb0, 0xc8, []*unicode.RangeTable{unicode.Hangul}},
	{"gb18030", 0xb0, 0xd7, nil},
	{"big5", 0xa4, 0xc6, nil},
}

// score counts two for each character of the language's own scripts, and for each common one if the language has none,
// one for each common Chinese character, and minus two for each other letter.
func (w wide) score(text []byte) (score int) {
	encoder := multibyte[w.encoding].NewEncoder()
	last := ' '
	for _, r := range string(text) {
		before := last
		switch last = r; {
		case before >= utf8.RuneSelf && r >= 'a' && r <= 'z':
			score -= 2
		case r < utf8.RuneSelf || !unicode.IsLetter(r):
		case r >= 0xff61 && r <= 0xff9f: // half the width
			score -= 2
		case unicode.In(r, w.own...):
			score += 2
		case !unicode.Is(unicode.Han, r):
			score -= 2
		default:
			code, err := encoder.Bytes(utf8.AppendRune(nil, r))
			switch common := err == nil && len(code) == 2 && code[0] >= w.from && code[0] <= w.to && (code[1] >= 0xa1 || w.encoding != "gb18030"); {
			case !common || slices.Contains(w.own, unicode.Hangul):
				score -= 2
			case w.own == nil:
				score += 2
			default:
				score++
			}
		}
	}
	return score
}

// isForeignScript reports whether most bytes above 127 are in runs of four or more. In the languages of Windows-1252
// they are not, because words are mostly ASCII.
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
