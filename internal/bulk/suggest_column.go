// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/locus-db/locus/match"
)

// suggestSample is how many values of a column in a file are examined.
const suggestSample = 500

// column collects the statistics of a column for a Suggester.
type column struct {
	name, plain string
	kinds       []*match.Schema // that are known
	rows        int             // that have the column
	files       map[int]bool
	values      int // not empty
	length      int // of all values
	many        bool
	forms       [formPhone + 1]int
	durations   int            // written as such
	different   map[string]int // the values, with the last file that has each
	repeats     bool           // a file has a value twice
	first       []string       // the first three different values
	sample      []string       // the first values of each file
	file        int            // the last one, and
	sampled     int            // how many values of it are in the sample
	plainValues map[string]bool
}

func (c *column) see(values []string, file int) {
	c.rows++
	c.files[file] = true
	if file != c.file {
		c.file, c.sampled = file, 0
	}
	n := 0
	for _, v := range values {
		form := formOf(v)
		if form == formEmpty {
			continue
		}
		n++
		c.values++
		c.length += len(v)
		c.forms[form]++
		if durationForm.MatchString(strings.TrimSpace(v)) {
			c.durations++
		}
		if c.sampled < suggestSample {
			c.sampled++
			c.sample = append(c.sample, v)
		}
		last, seen := c.different[v]
		c.repeats = c.repeats || seen && last == file
		c.different[v] = file
		if seen {
			continue
		}
		if len(c.first) < 3 {
			c.first = append(c.first, v)
		}
	}
	c.many = c.many || n > 1
}

// unique reports whether all rows of each file have different values.
func (c *column) unique() bool { return !c.many && c.values == c.rows && !c.repeats }

// unlike is the share of distinct values.
func (c *column) unlike() float64 { return float64(len(c.different)) / float64(c.values) }

// mostly reports whether nearly all values have one of the forms.
func (c *column) mostly(forms ...form) bool {
	n := 0
	for _, f := range forms {
		n += c.forms[f]
	}
	return n*10 >= c.values*9
}

// named reports whether the column's name, one of its words, or two joined words are in names.
func (c *column) named(names map[string]bool) bool {
	words := strings.Split(c.plain, "_")
	for i, w := range words {
		if names[w] || i > 0 && names[words[i-1]+w] {
			return true
		}
	}
	return names[strings.Join(words, "")]
}

// group returns the index of the first set of names that contains the column's name, or -1.
func (c *column) group(sets []map[string]bool) int { return slices.IndexFunc(sets, c.named) }

// means reports whether the name and the values fit an attribute of a kind.
func (c *column) means(kind *match.Schema, a *match.Attribute) bool {
	return aliasAmong(c.kinds, kind, a, c.plain) != noAlias && fits(a, c.sample)
}

// has reports whether at least this percentage of the sample has a property.
func (c *column) has(percent int, is func(value string) bool) bool {
	n := 0
	for _, v := range c.sample {
		if is(v) {
			n++
		}
	}
	return n*100 >= len(c.sample)*percent
}

// letters reports whether nearly all values have letters.
func (c *column) letters() bool {
	return c.has(90, func(v string) bool { return strings.ContainsFunc(v, unicode.IsLetter) })
}

// words reports whether most values have the length of a word in letters, and are not codes.
func (c *column) words() bool {
	return c.has(50, func(v string) bool {
		letters := 0
		for _, r := range v {
			if unicode.IsLetter(r) {
				letters++
			}
		}
		return letters >= 3
	})
}

// digits reports whether most values have a digit.
func (c *column) digits() bool {
	return c.has(75, func(v string) bool { return strings.ContainsFunc(v, unicode.IsDigit) })
}

// numbers reports whether most values have a digit, and none is as long as a catalogue number.
func (c *column) numbers() bool {
	return c.has(75, func(v string) bool { return len(v) <= 64 && strings.ContainsFunc(v, unicode.IsDigit) })
}

// years reports whether nearly all values are years.
func (c *column) years() bool {
	return c.has(95, func(v string) bool {
		y, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(v), ".0"))
		return err == nil && y >= 1000 && y <= 2100
	})
}

// dates reports whether nearly all values are dates, some of them of a year only. Words such as TBA stand for no date.
func (c *column) dates() bool {
	if c.mostly(formDate) {
		return true
	}
	days, years, none := 0, 0, 0
	for _, v := range c.sample {
		v = strings.TrimSpace(v)
		_, ok := match.Date(v)
		switch {
		case !strings.ContainsFunc(v, unicode.IsDigit):
			none++
		case !ok:
		case len(v) == len("1969"):
			years++
		case formOf(v) == formDate, len(v) == len("1969-07"), strings.ContainsFunc(v, unicode.IsLetter):
			days++
		}
	}
	n := len(c.sample)
	return none*5 <= n && (days+years)*20 >= (n-none)*19 && days*10 >= n
}

// groups reports whether the values are few, so that they divide the things into groups.
func (c *column) groups() bool { return c.values >= leastGrouped && c.unlike() <= groupShare }

// amounts reports whether nearly all values are numbers with one unit.
func (c *column) amounts() bool {
	units, bare := map[string]int{}, 0
	for _, v := range c.sample {
		if unit, ok := unitOf(v); ok {
			units[unit]++
			if (units[unit]+bare)*10 >= len(c.sample)*9 {
				return true
			}
		} else if formOf(v) == formNumber {
			bare++
		}
	}
	return false
}

// called reports whether half of the values are in a form that only phone numbers have.
func (c *column) called() bool {
	return c.has(50, func(v string) bool { return strings.ContainsAny(v, "+()") })
}

// people reports whether many values are lists, and nearly all of their parts have two to four words, all with
// capitals.
func (c *column) people() bool {
	lists, parts, names := 0, 0, 0
	for _, v := range c.sample {
		list := strings.FieldsFunc(strings.ReplaceAll(v, " and ", ";"), func(r rune) bool { return strings.ContainsRune(",;|&", r) })
		if len(list) > 1 {
			lists++
		}
		for _, part := range list {
			words := strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == '.' })
			parts++
			if len(words) >= 2 && len(words) <= 4 && !slices.ContainsFunc(words, func(w string) bool { return !isCapital(w) }) {
				names++
			}
		}
	}
	return lists*3 >= len(c.sample) && lists > 1 && names*10 >= parts*8
}

// lists reports whether a third of the values are certainly lists: one comma may stand in a single name.
func (c *column) lists() bool {
	return c.has(33, func(v string) bool { return strings.ContainsAny(v, ";|") || strings.Count(v, ",") > 1 })
}

// isCapital reports whether a word consists of letters, the first of them in upper case, and is not all capitals unless
// it has at most two letters.
func isCapital(w string) bool {
	upper := 0
	for i, r := range w {
		switch {
		case i == 0 && !unicode.IsUpper(r), !unicode.IsLetter(r) && r != '-' && r != '\'':
			return false
		case unicode.IsUpper(r):
			upper++
		}
	}
	return len(w) <= 2 || upper < len(w)
}

// Names of columns, or words in them, without accents and "_", in English, German, French, Spanish, Italian, Portuguese
// and Dutch; some in the other languages of the built-in kinds.
var (
	titleNames = nameSet(`title titles name film movie song track album book paper publication article product game beer wine work recipe headline show episode event offer
		veranstaltung evenement evento angebot 		titel filmtitel originaltitel lied buch werk bezeichnung produkt artikel spiel titre nom libelle chanson livre oeuvre produit
		titulo nombre pelicula cancion libro producto titolo nome canzone prodotto filme musica livro produto naam nummer
		название наименование товар назва nazwa tytul nazev titul tittel baslik τιτλος titlu cim tuotenimi タイトル 商品名 品名 书名 标题 商品名称 제목 상품명 العنوان`)
	// Names in titleNames that have no other meaning.
	nameNames = nameSet(`title name titel name1 titre nom titulo nombre titolo nome naam название наименование назва nazwa nazev navn namn τιτλος nimi 名称 品名`)
	workNames = nameSet(`title titel titre titulo titolo tytul tittel titul τιτλος titlu`) // businesses have names
	yearNames = nameSet(`year years yr vintage jahr jahrgang annee ano anno jaar rok год рік yil yıl ετος an vuosi 年 年度 년도 연도 السنة`)
	// The roles of people in a work. Two columns of one role mean the same.
	peopleNames = []map[string]bool{
		nameSet(`author authors writer writers autor autoren autorin verfasser drehbuch auteur auteurs scenariste autores guionista autore autori sceneggiatore autora
			schrijver schrijvers forfatter forfattare автор авторы yazar συγγραφεας szerzo kirjailija tekija 著者 作者 저자 المؤلف`),
		nameSet(`director directors regie regisseur realisateur regista diretor realizador regisseurs`),
		nameSet(`actor actors actress actresses cast starring stars darsteller schauspieler besetzung acteur acteurs actores actriz reparto attori elenco atores`),
		nameSet(`artist artists singer singers performer performers band kunstler interpret interpreten artiste artistes interprete interpretes artista artistas cantante
			artiest artiesten`),
		nameSet(`composer composers komponist compositeur compositor compositore`),
		nameSet(`editor editors herausgeber editeurs`),
		nameSet(`producer producers`),
		nameSet(`creator creators conductor narrator illustrator translator inventor inventors contributors erfinder mitwirkende`),
	}
	// Makers, except for names that kind product recognises as its brand.
	makerNames = nameSet(`brew brewery brewer brewers winery winemaker distillery distiller developer developers roaster roastery
		brauerei weingut winzer brennerei entwickler rosterei brasserie domaine distillerie developpeur cerveceria bodega destileria desarrollador
		birrificio cantina distilleria sviluppatore cervejaria adega brouwerij wijnhuis ontwikkelaar`)
	worldNames = nameSet(`isbn isbn10 isbn13 issn doi ean ean13 gtin upc imdb imdbid tmdbid isrc isni orcid mpn asin barcode oclc lccn musicbrainz mbid wikidata model modelnumber partnumber`)
	// Quantities of a thing. Two columns of one line mean the same, except in the last line.
	measureNames = []map[string]bool{
		nameSet(match.DurationNames),
		nameSet(`pages seiten seitenzahl paginas pagine`),
		nameSet(`abv alcohol strength alkohol alkoholgehalt starke`),
		nameSet(`price cost preis prix precio prezzo preco prijs cena pris цена ціна fiyat τιμη pret hinta 価格 价格 가격 السعر`),
		nameSet(`weight gewicht poids peso`),
		nameSet(`volume volumen`),
		nameSet(`msrp length width height depth size area capacity power lange breite hohe grosse leistung taille longueur largeur hauteur largo ancho alto lunghezza larghezza
			altezza comprimento lengte`),
	}
	changingNames = nameSet(`rating ratings score votes views likes rank ranking popularity stock quantity qty count sales created createdat updated updatedat modified modifiedat timestamp
		copyright copyrights crawl crawled crawldate scrape scraped fetched retrieved accessed imported inserted added dateadded lastseen firstseen availability reviews reviewcount stars image images img thumbnail thumb poster photo picture icon logo bewertung bestand menge bild bilder erstellt geandert aktualisiert
		existencias imagen imagenes valoracion immagine immagini voto imagem afbeelding voorraad`)
)

func nameSet(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}
