// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// splitter collects the words and measures of a text. Measures are words, too.
type splitter struct {
	words    []string
	measures []measure
	number   float64 // the value of the last word, if numberAt is the number of words
	numberAt int     // the number of words including it
}

// splitTitle returns the words of a text and its measures. The parts of a hyphenated model number are joined; a number
// and the unit after it are one word.
func splitTitle(raw string) (words []string, measures []measure) {
	raw = spellNumbers(raw)
	s := splitter{words: make([]string, 0, len(raw)/6+1)}
	buf := make([]byte, 0, 64)
	for chunk := range strings.FieldsFuncSeq(raw, func(r rune) bool { return strings.ContainsRune(" \t\r\n/,;:()[]|\"", r) }) {
		folded := chunk
		if !isPlain(chunk) {
			buf = appendFold(buf[:0], chunk)
			folded = string(buf)
			if !ascii(folded) {
				folded, _ = romanise(folded)
				chunk, _ = romanise(strings.ToLower(chunk))
			}
		}
		switch {
		case folded == "":
		case hasDigit(chunk) && !strings.ContainsAny(chunk, "'&+"):
			s.addNumber(chunk, folded)
		default:
			for w := range strings.FieldsSeq(folded) {
				s.addWord(spellTitleWord(w))
			}
		}
	}
	return s.words, s.measures
}

// measured adds a measure in place of the last words. A count before the content of a package is the number of
// packages: 6 x 330 ml.
func (s *splitter) measured(m measure, instead int) {
	if n, before := len(s.measures), len(s.words)-instead-1; n > 0 && before >= 0 && s.measures[n-1].unit == "x" && s.words[before] == s.measures[n-1].word() && contents[units[m.unit].of] {
		s.measures[n-1].unit = "pack"
		s.words[before] = s.measures[n-1].word()
	}
	s.measures = append(s.measures, m)
	s.words, s.numberAt = append(s.words[:len(s.words)-instead], m.word()), 0
}

// contents are the quantities that give the size of a package.
var contents = wordSet(`volume mass`)

// addNumber adds a word with a digit.
func (s *splitter) addNumber(chunk, folded string) {
	chunk = strings.TrimSuffix(chunk, ".")
	if packs, each, ok := parsePacked(chunk); ok {
		s.measured(packs, 0)
		s.measured(each, 0)
		return
	}
	m, ok := parseMeasure(chunk)
	if !ok {
		m, ok = clothesSize(folded)
	}
	if ok {
		s.measured(m, 0)
		return
	}
	if isNumber(chunk) {
		value, _ := strconv.ParseFloat(chunk, 64)
		if n := len(s.words); n >= 2 && s.words[n-1] == "of" && packs[s.words[n-2]] {
			s.measured(measure{value, "pack"}, 2) // pack of 6
			return
		}
		s.number, s.numberAt = value, len(s.words)+1
	}
	if n, ok := version(chunk); ok {
		folded = n
	}
	s.words = append(s.words, strings.ReplaceAll(folded, " ", ""))
}

// version returns the digits of a number with parts, without parts of zeros at its end: 10 for 10.0 and v10.0.
func version(chunk string) (n string, ok bool) {
	if !strings.Contains(chunk, ".") {
		return "", false
	}
	if chunk[0] == 'v' || chunk[0] == 'V' {
		chunk = chunk[1:]
	}
	parts := strings.Split(chunk, ".")
	for _, part := range parts {
		if !digits(part) {
			return "", false
		}
	}
	for len(parts) > 1 && strings.Trim(parts[len(parts)-1], "0") == "" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ""), true
}

// addWord adds a word without digits, which may be the unit of the number before it, or a number in Roman numerals
// behind another word.
func (s *splitter) addWord(w string) {
	n := len(s.words)
	behind := func(words int) bool { return s.numberAt > 0 && s.numberAt == n-words }
	if unit, ok := unitSpellings[w]; ok && behind(0) {
		s.measured(measure{s.number, unit}, 1)
		return
	} else if ok && unit == "oz" && behind(1) && s.words[n-1] == "fl" {
		s.measured(measure{s.number, "floz"}, 2)
		return
	}
	if m, ok := clothesSize(w); ok {
		if w == "large" && n > 0 && (s.words[n-1] == "x" || s.words[n-1] == "extra") {
			m, _ = clothesSize("xl")
			s.measured(m, 1)
			return
		}
		s.measured(m, 0)
		return
	}
	if digits := romanNumerals[w]; digits != "" && n > 0 {
		w = digits
	}
	s.words = append(s.words, w)
}

// romanNumerals are the numerals that hardly ever mean anything else.
var romanNumerals = map[string]string{
	"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12", "xiii": "13", "xiv": "14", "xvi": "16",
}

// packs are the words before "of" and a number of pieces.
var packs = wordSet(`pack packs set box case bundle`)

// spellNumbers writes the sign of inches as "in", and decimal commas and commas of thousands before a unit as others
// do: 46", 0,5 l, 1,000 mAh.
func spellNumbers(raw string) string {
	if !strings.ContainsAny(raw, "\",”″") {
		return raw
	}
	var b strings.Builder
	quoted, from := false, 0
	for i, r := range raw {
		after := i > 0 && isDigit(raw[i-1])
		size := utf8.RuneLen(r)
		switch {
		case r == '“':
			quoted = true
		case r == '″' && after, (r == '"' || r == '”') && after && !quoted:
			b.WriteString(raw[from:i] + " in ")
			from = i + size
		case r == '"', r == '”':
			quoted = !quoted && r == '"'
		case r == ',' && after:
			if mark, ok := commaBeforeUnit(raw, i); ok {
				b.WriteString(raw[from:i] + mark)
				from = i + 1
			}
		}
	}
	b.WriteString(raw[from:])
	return b.String()
}

// commaBeforeUnit returns the replacement for the only comma of a number that is followed by a unit.
func commaBeforeUnit(raw string, at int) (mark string, ok bool) {
	from, to := at, at+1
	for from > 0 && isDigit(raw[from-1]) {
		from--
	}
	for to < len(raw) && isDigit(raw[to]) {
		to++
	}
	unit := to
	if unit < len(raw) && (raw[unit] == ' ' || raw[unit] == '-') {
		unit++
	}
	end := strings.IndexFunc(raw[unit:], func(r rune) bool { return r < utf8.RuneSelf && !isLetter(byte(r)) })
	if end < 0 {
		end = len(raw) - unit
	}
	if to == at+1 || from > 0 && strings.IndexByte(".,", raw[from-1]) >= 0 {
		return "", false
	}
	word, _ := romanise(strings.ToLower(raw[unit : unit+end]))
	switch _, ok = unitSpellings[word]; {
	case !ok:
		return "", false
	case to-at == 4 && raw[from:at] != "0":
		return "", true
	}
	return ".", true
}
