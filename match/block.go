// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// KeyKind is the kind of clue that a blocking key is made of. The values are part of the stored hashes and never change
// their meaning.
type KeyKind uint8

// The kinds of blocking keys.
const (
	KeyPhone       KeyKind = 1  // last nine digits, or all if fewer
	KeyToken       KeyKind = 2  // a rare word of the name
	KeyTokens      KeyKind = 3  // the two rarest words of the name
	KeyTokenPlace  KeyKind = 4  // a rare word, or the beginning of a name, x postcode or city
	KeyTokenCell   KeyKind = 5  // the rarest word x an area of about a kilometre
	KeyStreet      KeyKind = 6  // house number x beginning of the street's first word
	KeyStreetPlace KeyKind = 7  // the same x city
	KeyNumberPlace KeyKind = 8  // house number x postcode
	KeyPage        KeyKind = 9  // web page
	KeyDomainPlace KeyKind = 10 // registrable domain x postcode or city
	KeyEmail       KeyKind = 11 // mailbox, or of persons what is before its @
	KeyID          KeyKind = 12 // identifier, of its source or global
	KeyNames       KeyKind = 13 // sound of given and family name
	KeyNameYear    KeyKind = 14 // sound of a name x year
	KeyNamePlace   KeyKind = 15 // sound of a name x postcode or city
	KeyDateInitial KeyKind = 16 // day x initial of a name; year x both initials
	KeyModel       KeyKind = 17 // model number
	KeyBrandWord   KeyKind = 18 // brand x the rarest word
	KeyDatePlace   KeyKind = 19 // day x sound of the city
	KeyEqual       KeyKind = 20 // all compared content
	KeyPersonWord  KeyKind = 21 // family name of one of the people, with a rare word of the title
	KeyPersonYear  KeyKind = 22 // the same x year
	KeyBeginning   KeyKind = 23 // first letters of a title, or all of a name, without spaces
	KeyTitle       KeyKind = 24 // words of a title that are all common, or two of them x date or number
	KeyInitials    KeyKind = 25 // initials of both names x city or postcode
)

var keyKinds = [...]string{
	KeyPhone: "phone", KeyToken: "rare word", KeyTokens: "two words", KeyTokenPlace: "word and place",
	KeyTokenCell: "word and area", KeyStreet: "house number and street",
	KeyStreetPlace: "house number, street and place", KeyNumberPlace: "house number and postcode", KeyPage: "web page",
	KeyDomainPlace: "domain and place", KeyEmail: "mailbox", KeyID: "identifier",
	KeyNames: "sound of the names", KeyNameYear: "sound of a name and year", KeyNamePlace: "sound of a name and place",
	KeyDateInitial: "date and initials", KeyDatePlace: "date and place", KeyModel: "model number", KeyBrandWord: "brand and word",
	KeyEqual: "all that is compared", KeyPersonWord: "person and word",
	KeyPersonYear: "person and year", KeyBeginning: "beginning", KeyTitle: "common words",
	KeyInitials: "initials and place",
}

// String returns the readable name.
func (k KeyKind) String() string {
	if int(k) < len(keyKinds) && keyKinds[k] != "" {
		return keyKinds[k]
	}
	return "blocking key " + strconv.Itoa(int(k))
}

// The last two bits of a blocking key's hash encode its limit of records.
const (
	bitsOfLimit     = 3
	limitEverywhere = 1
	limitEqual      = 2
	limitWords      = 3
)

// limit returns the code of the limit. Blocking keys without a location have lower limits, because the number of
// their records grows with the number of records.
func (k KeyKind) limit() uint64 {
	switch k {
	case KeyTokens, KeyBeginning:
		return limitWords
	case KeyStreet:
		return limitEverywhere
	case KeyEqual:
		return limitEqual
	}
	return 0
}

// MarshalText returns the text of String.
func (k KeyKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// BlockingKey selects the records to compare: records are compared if they share one. Its hash is the 64-bit xxHash
// (seed 0) of the byte of its kind, the kind of the record unless that is place, and the parts, each followed by 0x1f;
// the last two bits are replaced by the code of the limit, see BlockLimit. Hashes are stored, so the same parts must
// always give the same hash, on every machine.
type BlockingKey struct {
	Hash uint64
	Kind KeyKind
}

// BlockLimit returns how many distinct contents may carry a blocking key before it is a stop key and yields no
// candidates: MaxBlockSize, or maxBlockAnywhere or MaxBlockWords for blocking keys without a location. Identical
// records count once.
func BlockLimit(key uint64) int {
	switch key & bitsOfLimit {
	case limitWords:
		return MaxBlockWords
	case limitEverywhere:
		return maxBlockAnywhere
	case limitEqual:
		return math.MaxInt
	}
	return MaxBlockSize
}

// BlockingKeys returns the record's distinct blocking keys, ordered by hash. The caller must not change them.
func (r *Record) BlockingKeys() []BlockingKey { return r.keys }

// BlockingKey returns the kind and the readable parts of one of the record's blocking keys.
func (r *Record) BlockingKey(hash uint64) (kind KeyKind, text string, ok bool) {
	s := sink{salt: r.matcher.salt, want: hash, explain: true}
	r.emit(&s)
	return s.kind, s.text, s.found
}

// sink receives blocking keys: it either collects them or searches for one.
type sink struct {
	keys    []BlockingKey
	salt    string // the record's kind, unless place: two kinds share no blocking keys
	explain bool
	want    uint64
	found   bool
	kind    KeyKind
	text    string
}

func (s *sink) add(kind KeyKind, parts ...string) {
	h := hashKey(s.salt, kind, parts...)
	if !s.explain {
		s.keys = append(s.keys, BlockingKey{Hash: h, Kind: kind})
	} else if h == s.want && !s.found {
		s.found, s.kind, s.text = true, kind, strings.Join(parts, " · ")
	}
}

func hashKey(salt string, kind KeyKind, parts ...string) uint64 {
	var buf [256]byte
	b := append(buf[:0], byte(kind))
	if salt != "" {
		b = append(append(b, salt...), 0x1f)
	}
	for _, p := range parts {
		b = append(append(b, p...), 0x1f)
	}
	return xxhash.Sum64(b)&^bitsOfLimit | kind.limit()
}

func (r *Record) collect() []BlockingKey {
	s := sink{salt: r.matcher.salt, keys: make([]BlockingKey, 0, 12)}
	r.emit(&s)
	slices.SortFunc(s.keys, func(a, b BlockingKey) int { return cmp.Compare(a.Hash, b.Hash) })
	return slices.Compact(s.keys)
}

// Limits on the blocking keys per record. Every blocking key costs the resolver a write and a read at a random
// location, so a record has about six.
const (
	keyPhones = 4
	keyPages  = 2
	keyWeight = 300 // of the second word: "pizza" with a postcode would match half a town
)

// emit emits the record's blocking keys, possibly with duplicates.
func (r *Record) emit(s *sink) {
	for _, p := range r.phones[:min(len(r.phones), keyPhones)] {
		s.add(KeyPhone, p.digits())
	}
	place, wider := r.postcode, r.city
	if place == "" {
		place, wider = r.city, ""
	}
	r.emitAddress(s)
	switch r.matcher.style {
	case StylePerson:
		r.emitPerson(s, place, wider)
	case StyleTitle:
		r.emitTitle(s)
	default:
		r.emitName(s, place, wider)
	}
	r.emitPages(s, place)
	r.emitEqual(s)
	for _, id := range r.ids {
		if id.world {
			_, number := ofCountry(id.value)
			s.add(KeyID, "", id.attribute, number)
		} else {
			s.add(KeyID, r.source, id.attribute, id.value)
		}
	}
}

// emitAddress emits the blocking keys of the house. The number with the street is specific as long as there are few
// records. Once a frequent street name has become a stop key, the number with the postcode, or with street and city,
// finds the candidates.
func (r *Record) emitAddress(s *sink) {
	if r.address.number == 0 {
		return
	}
	number := strconv.Itoa(int(r.address.number))
	if r.postcode != "" {
		s.add(KeyNumberPlace, number, r.postcode)
	}
	if len(r.address.street) == 0 {
		return
	}
	street := plainVowels(r.address.street[0].text)
	s.add(KeyStreet, number, firstLetters(street, 6)) // with four letters there would be only a few hundred streets
	if r.postcode == "" && r.city != "" && (nameWords[street]&nameFamiliar != 0 || isDigit(street[0])) {
		s.add(KeyStreetPlace, number, firstLetters(street, 4), r.city)
	}
}

func firstLetters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// emitName emits the rarest words combined with a location, and one blocking key for records without a location.
func (r *Record) emitName(s *sink, place, wider string) {
	var rarest [3]*token
	n := r.name.rarest(&rarest)
	if n == 0 {
		return
	}
	first := plainVowels(rarest[0].text)
	if place != "" {
		s.add(KeyTokenPlace, first, place)
		if n > 1 && rarest[1].weight >= keyWeight {
			s.add(KeyTokenPlace, plainVowels(rarest[1].text), place)
		}
	}
	if wider != "" {
		s.add(KeyTokenPlace, first, wider)
	}
	switch counted := r.matcher.terms.records > 0; {
	case rarest[0].rare && (counted || n == 1):
		s.add(KeyToken, first)
	case n > 1:
		second := plainVowels(rarest[1].text)
		s.add(KeyTokens, min(first, second), max(first, second))
	}
	switch { // a house number needs no key of the name's beginning
	case r.address.number > 0:
	case place != "":
		s.add(KeyTokenPlace, r.name.beginning(), place)
	default:
		r.emitAlone(s)
	}
	switch {
	case !r.point.valid():
	case r.matcher.terms.rough():
		r.emitRough(s)
	default:
		cell, corner := r.point.cells(cellLevel)
		s.add(KeyTokenCell, first, cell)
		s.add(KeyTokenCell, first, corner)
	}
}

func (r *Record) emitPages(s *sink, place string) {
	for _, p := range r.pages[:min(len(r.pages), keyPages)] {
		if p.domain == "" || place == "" {
			s.add(KeyPage, p.text)
		} else {
			s.add(KeyDomainPlace, p.domain, place)
		}
	}
	for _, e := range r.emails[:min(len(r.emails), keyPages)] {
		s.add(KeyEmail, e)
	}
}
