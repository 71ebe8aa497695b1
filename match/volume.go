// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The number of a part, a volume, a sequel or an edition distinguishes a work from one with the same title and no
// number or another one: Part 2, Vol. II, second edition, and a number at the end.

// spellVolumes unifies the words for a part or an edition and the numbers beside them: "pt two" becomes "part 2", and
// "second ed" becomes "2 edition".
func spellVolumes(words []string) {
	for i := range len(words) - 1 {
		w, next := words[i], words[i+1]
		if part := volumeWords[w]; part != "" && (digits(next) || numerals[next] != "") {
			words[i], words[i+1] = part, cmp.Or(numerals[next], next)
		}
		if !editionWords[next] {
			continue
		}
		if n := number(w); n != "" && (n == w || ordinalEnds[w[len(n):]]) || numerals[w] != "" {
			words[i], words[i+1] = cmp.Or(n, numerals[w]), "edition"
		}
	}
}

// volumesOf returns the numbers of parts, volumes and editions among the words of a title. folded still has those that
// were Roman numerals.
func volumesOf(words []string, folded string) (volumes []string) {
	end := len(words)
	for end > 2 && isYear(words[end-1]) { // Night Ferry 2 (1991)
		end--
	}
	for i, w := range words {
		part := i > 0 && volumeNames[words[i-1]]
		edition := i+1 < len(words) && words[i+1] == "edition"
		if digits(w) && len(w) < minDigits && (part || edition || i > 0 && (i == end-1 || i == len(words)-1)) {
			volumes = append(volumes, w)
		}
	}
	for w := range strings.FieldsSeq(folded) {
		if n := romanNumerals[w]; n != "" && slices.Contains(words, n) {
			volumes = append(volumes, n)
		}
	}
	return volumes
}

func isYear(w string) bool { return len(w) == 4 && digits(w) && (w[:2] == "19" || w[:2] == "20") }

// volume returns the number of a part, a volume or an edition, if the other title has all other words except the word
// for a part.
func (t *title) volume(used uint32) (n string) {
	tokens := t.name.tokens
	for i := range tokens {
		switch w := tokens[i].text; {
		case !isKept(tokens, used, i):
		case n == "" && slices.Contains(t.volumes, w):
			n = w
		case !volumeNames[w] && w != "edition":
			return ""
		}
	}
	return n
}

// otherVolume reports whether two titles are different volumes. If only one has a number, the number must be the only
// difference. It must not be 1, because first parts often have no number, nor above 99, which may be a year or a model.
func otherVolume(a, b *title, usedA, usedB uint32) bool {
	x, y := a.volume(usedA), b.volume(usedB)
	if x != "" && y != "" {
		return x != y
	}
	n := cmp.Or(x, y)
	return n != "1" && len(n) <= 2 && onlyVolume(a, b, usedA, usedB)
}

// firstVolume reports whether the only difference of two titles is that one is numbered as the first part.
func firstVolume(a, b *title, usedA, usedB uint32) bool {
	return cmp.Or(a.volume(usedA), b.volume(usedB)) == "1" && onlyVolume(a, b, usedA, usedB)
}

// onlyVolume reports whether one of two titles has the number of a part, and nothing else differs.
func onlyVolume(a, b *title, usedA, usedB uint32) bool {
	return a.volume(usedA) != "" && !residue(b.name.tokens, usedB).any || b.volume(usedB) != "" && !residue(a.name.tokens, usedA).any
}

// counted is a number of a title with what it counts, as volumeNames spell it.
type counted struct{ of, n string }

// countedOf returns the numbers that say what they count: Vol. 2, Part II, #12.
func countedOf(words []string, raw string) (list []counted) {
	for i, w := range words[min(len(words), 1):] {
		if of := words[i]; countWords[of] && digits(w) {
			list = append(list, counted{of, withoutZeros(w)})
		}
	}
	for _, parts := range numberSign.FindAllStringSubmatch(raw, maxVariant) {
		list = append(list, counted{"no", withoutZeros(parts[1])})
	}
	return list
}

// countWords are the spellings of volumeWords that count the parts of a work. One product may be of two series.
var countWords = wordSet(`part volume no episode chapter season book`)

var numberSign = regexp.MustCompile(`#\s?(\d{1,6})\b`)

// countedApart reports whether two titles have different numbers of one thing, such as two volumes.
func countedApart(a, b *title) bool {
	for _, x := range a.counted {
		has, equal := false, false
		for _, y := range b.counted {
			has, equal = has || x.of == y.of, equal || x == y
		}
		if has && !equal {
			return true
		}
	}
	return false
}

// otherTake reports whether one of two titles names another recording of a work, such as a live one, and the other has
// no such word anywhere.
func otherTake(a, b *title) bool { return a.takes(b) || b.takes(a) }

func (t *title) takes(other *title) bool {
	return slices.ContainsFunc(t.words[min(len(t.words), 1):], func(w string) bool { return takeWords[w] && !other.bag.has(w) })
}

// takeWords name another recording of a work.
var takeWords = wordSet(`live remix acoustic unplugged instrumental karaoke demo reprise remixed rmx acapella akustik acustico acoustique envivo`)

// volumeWords are words before the number of a part, with their spelling.
var volumeWords = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(`part pt parts teil parte partie deel czesc
volume vol vols volumen tome tomo band bd
no nr num number numero
episode ep folge episodio
chapter chap kapitel chapitre capitulo capitolo
season staffel saison temporada stagione
series serie
book buch livre libro
disc disk cd
act
version ver
mark mk`) {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
}()

// volumeNames are the spellings of volumeWords.
var volumeNames = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range volumeWords {
		names[name] = true
	}
	return names
}()

// editionWords are words after the number of an edition.
var editionWords = wordSet(`edition ed edn auflage aufl edicion edizione edicao druk`)

// numerals are number words and Roman numerals, which count as numbers only beside a word for a part.
var numerals = func() map[string]string {
	m := map[string]string{"i": "1", "v": "5", "x": "10"}
	for w, n := range romanNumerals {
		m[w] = n
	}
	for n, line := range strings.Split(`one first eins erste un une premiere uno primera primo prima
two second zwei zweite deux deuxieme seconde dos segunda due seconda
three third drei dritte trois troisieme tres tercera tre terza
four fourth vier vierte quatre quatrieme cuatro cuarta quattro quarta
five fifth funf funfte cinq cinquieme cinco quinta cinque
six sixth sechs sechste sixieme seis sexta sei
seven seventh sieben siebte sept septieme siete septima sette
eight eighth acht achte huit huitieme ocho octava otto
nine ninth neun neunte neuf neuvieme nueve novena nove
ten tenth zehn zehnte dix dixieme diez decima dieci`, "\n") {
		for w := range strings.FieldsSeq(line) {
			m[w] = strconv.Itoa(n + 1)
		}
	}
	return m
}()

// ordinalEnds follow the digits of an ordinal number.
var ordinalEnds = wordSet(`st nd rd th te e eme a o`)
