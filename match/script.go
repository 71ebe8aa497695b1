// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"unicode/utf8"
)

// romanise spells the Cyrillic and Greek words of a folded text in Latin letters, as the countries that use them spell
// names in passports and on signs, and reports whether there were any. Spellings vary, so the result is compared like a
// name with typos. Folding has removed the accents, so й and и are the same. Arabic words keep their letters and lose
// their article.
func romanise(folded string) (text string, changed bool) {
	if ascii(folded) {
		return folded, false
	}
	if strings.IndexFunc(folded, func(r rune) bool { return isCyrillic(r) || isGreek(r) }) < 0 {
		return cutArticles(folded), false
	}
	table := cyrillic
	switch {
	case strings.ContainsAny(folded, "јљњћђџ"):
		table = serbian
	case strings.ContainsAny(folded, "ієґ"):
		table = ukrainian
	}
	var b strings.Builder
	b.Grow(len(folded))
	for i, word := range strings.Split(folded, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		romaniseWord(&b, word, table)
	}
	if text = strings.Join(strings.Fields(b.String()), " "); text == "" { // signs without a sound
		return folded, false
	}
	return text, true
}

// cutArticles cuts the article, which is written together with a word and often left out, off the words of an Arabic
// text, and joins a servant of God's (Abd) to the name behind it.
func cutArticles(folded string) string {
	if strings.IndexFunc(folded, isArabic) < 0 {
		return folded
	}
	var b strings.Builder
	b.Grow(len(folded))
	for i, word := range strings.Split(folded, " ") {
		if i > 0 && !strings.HasSuffix(" "+b.String(), " عبد") {
			b.WriteByte(' ')
		} else if i > 0 {
			b.WriteString(word)
			continue
		}
		for _, article := range [...]string{"ال", "لل"} {
			if rest, ok := strings.CutPrefix(word, article); ok && utf8.RuneCountInString(rest) > 2 {
				word = rest
				break
			}
		}
		b.WriteString(word)
	}
	return b.String()
}

func isArabic(r rune) bool { return 0x600 <= r && r <= 0x6ff }

func isCyrillic(r rune) bool { return 0x400 <= r && r <= 0x52f }

func isGreek(r rune) bool { return 0x370 <= r && r <= 0x3ff }

func romaniseWord(b *strings.Builder, word string, table map[rune]string) {
	before := rune(0)
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRuneInString(word[i:])
		next, wide := utf8.DecodeRuneInString(word[i+size:])
		switch {
		case isGreek(r):
			after, _ := utf8.DecodeRuneInString(word[i+size+wide:])
			latin, both := romaniseGreek(r, next, after, before == 0)
			b.WriteString(latin)
			if both {
				size += wide
			}
		case !isCyrillic(r):
			b.WriteRune(r)
		case r == 'и' && word[i+size:] == "и":
			b.WriteByte('y') // the ending of Достоевский
			return
		case r == 'ъ' && wide > 0 && !strings.ContainsRune("еэюяиоу", next):
			b.WriteByte('a') // a vowel in Bulgarian
		default:
			latin, ok := table[r]
			if !ok {
				if latin, ok = cyrillic[r]; !ok {
					latin = string(r)
				}
			}
			b.WriteString(latin)
		}
		before = r
		i += size
	}
}

// romaniseGreek spells a letter, or two that are one sound.
func romaniseGreek(r, next, after rune, first bool) (latin string, both bool) {
	switch {
	case strings.ContainsRune("αεη", r) && next == 'υ':
		if after == utf8.RuneError || strings.ContainsRune("θκξπσςτφχψ", after) {
			return greek[r] + "f", true
		}
		return greek[r] + "v", true
	case r == 'ο' && next == 'υ':
		return "ou", true
	case r == 'γ' && strings.ContainsRune("γξχ", next):
		return "n", false
	case !first:
	case r == 'μ' && next == 'π':
		return "b", true
	case r == 'ν' && next == 'τ':
		return "d", true
	case r == 'γ' && next == 'κ':
		return "g", true
	}
	if latin, ok := greek[r]; ok {
		return latin, false
	}
	return string(r), false
}

// letterTable reads pairs of a letter and its spelling; "-" means no spelling.
func letterTable(text string) map[rune]string {
	m := map[rune]string{}
	fields := strings.Fields(text)
	for i := 0; i < len(fields); i += 2 {
		r, _ := utf8.DecodeRuneInString(fields[i])
		m[r] = strings.Trim(fields[i+1], "-")
	}
	return m
}

var (
	cyrillic = letterTable(`
а a б b в v г g д d е e ж zh з z и i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya
і i є ie ґ g ј j љ lj њ nj ћ c ђ d џ dz ѕ dz ѣ e ѳ f ѵ i ө o ү u қ k ғ g ң n ұ u һ h ә a`)
	ukrainian = letterTable(`г h и y х kh щ shch`)
	// Serbian has a Latin alphabet of its own, whose accents are folded away.
	serbian = letterTable(`ж z х h ц c ч c ш s`)
	greek   = letterTable(`
α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o`)
)
