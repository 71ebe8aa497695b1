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

// FeatureKind is what a feature is made of. The values are part of the stored
// hashes and never change their meaning.
type FeatureKind uint8

// The kinds of features.
const (
	FeaturePhone       FeatureKind = 1  // last nine digits, or as many as there are
	FeatureToken       FeatureKind = 2  // a rare word of the name
	FeatureTokens      FeatureKind = 3  // the two rarest words of the name
	FeatureTokenPlace  FeatureKind = 4  // a rare word x postcode or city
	FeatureTokenCell   FeatureKind = 5  // the rarest word x an area of about a kilometre
	FeatureStreet      FeatureKind = 6  // house number x beginning of the street's first word
	FeatureStreetPlace FeatureKind = 7  // the same x city
	FeatureNumberPlace FeatureKind = 8  // house number x postcode
	FeaturePage        FeatureKind = 9  // web page
	FeatureDomainPlace FeatureKind = 10 // registrable domain x postcode or city
	FeatureEmail       FeatureKind = 11 // mailbox
	FeatureID          FeatureKind = 12 // identifier, within its source or of the world
	FeatureNames       FeatureKind = 13 // the sounds of given and family name
	FeatureNameYear    FeatureKind = 14 // the sound of a name x year
	FeatureNamePlace   FeatureKind = 15 // the sound of a name x postcode or city
	FeatureDateInitial FeatureKind = 16 // day x initial of a name; year x both initials
	FeatureModel       FeatureKind = 17 // model number
	FeatureBrandWord   FeatureKind = 18 // brand x the rarest word
	FeatureDatePlace   FeatureKind = 19 // day x sound of the city
	FeatureEqual       FeatureKind = 20 // all that is compared
)

var featureKinds = [...]string{
	FeaturePhone: "phone", FeatureToken: "rare word", FeatureTokens: "two words", FeatureTokenPlace: "word and place",
	FeatureTokenCell: "word and area", FeatureStreet: "house number and street",
	FeatureStreetPlace: "house number, street and place", FeatureNumberPlace: "house number and postcode", FeaturePage: "web page",
	FeatureDomainPlace: "domain and place", FeatureEmail: "mailbox", FeatureID: "identifier",
	FeatureNames: "sound of the names", FeatureNameYear: "sound of a name and year", FeatureNamePlace: "sound of a name and place",
	FeatureDateInitial: "date and initials", FeatureDatePlace: "date and place", FeatureModel: "model number", FeatureBrandWord: "brand and word",
	FeatureEqual: "all that is compared",
}

// String answers with the words for people.
func (k FeatureKind) String() string {
	if int(k) < len(featureKinds) && featureKinds[k] != "" {
		return featureKinds[k]
	}
	return "feature " + strconv.Itoa(int(k))
}

// The last bits of a feature's hash say how many may carry it.
const (
	bitsOfLimit     = 3
	limitEverywhere = 1
	limitEqual      = 2
	limitWords      = 3
)

// limit tells how many may carry such a feature. What says nothing of where its record is grows with the number of
// records.
func (k FeatureKind) limit() uint64 {
	switch k {
	case FeatureTokens:
		return limitWords
	case FeatureStreet:
		return limitEverywhere
	case FeatureEqual:
		return limitEqual
	}
	return 0
}

// MarshalText writes the words of String.
func (k FeatureKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Feature is a key under which records that may be one thing meet: the 64-bit
// xxHash (seed 0) of its kind's byte, the kind of the record unless that is
// place, and the parts, each followed by 0x1f, but that its last two bits say how many
// may carry it, see MostCarriers. It is stored: the same parts give the same hash
// for ever, on every machine.
type Feature struct {
	Hash uint64
	Kind FeatureKind
}

// MostCarriers is how many records that say different things may carry a feature before it is generic and
// yields no candidates: GenericAbove, and of those that say nothing of where
// GenericEverywhere, or GenericWords. Any number may say the same.
func MostCarriers(feature uint64) int {
	switch feature & bitsOfLimit {
	case limitWords:
		return GenericWords
	case limitEverywhere:
		return GenericEverywhere
	case limitEqual:
		return math.MaxInt
	}
	return GenericAbove
}

// Features answers with the record's features, distinct, ordered by hash. The
// caller must not change them.
func (r *Record) Features() []Feature { return r.features }

// Feature answers with the kind and the readable parts of one of the record's
// features.
func (r *Record) Feature(hash uint64) (kind FeatureKind, text string, ok bool) {
	s := sink{salt: r.matcher.salt, want: hash, explain: true}
	r.emit(&s)
	return s.kind, s.text, s.found
}

// sink takes features: it collects them, or looks for one of them.
type sink struct {
	features []Feature
	salt     string // of kinds but the first: the same word of two kinds is two features
	explain  bool
	want     uint64
	found    bool
	kind     FeatureKind
	text     string
}

func (s *sink) add(kind FeatureKind, parts ...string) {
	h := hashFeature(s.salt, kind, parts...)
	if !s.explain {
		s.features = append(s.features, Feature{Hash: h, Kind: kind})
	} else if h == s.want && !s.found {
		s.found, s.kind, s.text = true, kind, strings.Join(parts, " · ")
	}
}

func hashFeature(salt string, kind FeatureKind, parts ...string) uint64 {
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

func (r *Record) collect() []Feature {
	s := sink{salt: r.matcher.salt, features: make([]Feature, 0, 12)}
	r.emit(&s)
	slices.SortFunc(s.features, func(a, b Feature) int { return cmp.Compare(a.Hash, b.Hash) })
	return slices.Compact(s.features)
}

// Bounds of what a record that lists many contributes. Every feature costs the
// resolver a write and a read at a random place, so they are few: about six.
const (
	featurePhones = 4
	featurePages  = 2
	featureWords  = 2
	featureWeight = 300 // of the second word: "pizza" and a postcode bring half a town
)

// emit names the record's features, possibly some of them twice.
func (r *Record) emit(s *sink) {
	for _, p := range r.phones[:min(len(r.phones), featurePhones)] {
		s.add(FeaturePhone, p.digits())
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
			s.add(FeatureID, "", id.attribute, id.value)
		} else {
			s.add(FeatureID, r.source, id.attribute, id.value)
		}
	}
}

// emitAddress names the house. The number with the street says enough while
// records are few; in the long run a street that every town has is generic, and
// the number with the postcode, or with street and city, takes over.
func (r *Record) emitAddress(s *sink) {
	if r.address.number == 0 {
		return
	}
	number := strconv.Itoa(int(r.address.number))
	if r.postcode != "" {
		s.add(FeatureNumberPlace, number, r.postcode)
	}
	if len(r.address.street) == 0 {
		return
	}
	street := r.address.street[0].text
	s.add(FeatureStreet, number, firstLetters(street, 6)) // with four all streets there are would be a few hundred
	if r.postcode == "" && r.city != "" && (nameWords[street]&nameFamiliar != 0 || isDigit(street[0])) {
		s.add(FeatureStreetPlace, number, firstLetters(street, 4), r.city)
	}
}

// firstLetters answers with the first n letters of s.
func firstLetters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// emitName names the words that tell most, with where they were seen; and one
// feature for records that say nothing of where.
func (r *Record) emitName(s *sink, place, wider string) {
	var rarest [3]*token
	n := r.name.rarest(&rarest)
	if n == 0 {
		return
	}
	if place != "" {
		for i, t := range rarest[:min(n, featureWords)] {
			if i == 0 || t.weight >= featureWeight {
				s.add(FeatureTokenPlace, t.text, place)
			}
		}
	}
	if wider != "" {
		s.add(FeatureTokenPlace, rarest[0].text, wider)
	}
	switch counted := r.matcher.pack.records > 0; {
	case rarest[0].rare && (counted || n == 1):
		s.add(FeatureToken, rarest[0].text)
	case n > 1:
		s.add(FeatureTokens, min(rarest[0].text, rarest[1].text), max(rarest[0].text, rarest[1].text))
	}
	if r.point.valid() {
		cell, corner := r.point.cells()
		s.add(FeatureTokenCell, rarest[0].text, cell)
		s.add(FeatureTokenCell, rarest[0].text, corner)
	}
}

// emitPages names web sites and mailboxes.
func (r *Record) emitPages(s *sink, place string) {
	for _, p := range r.pages[:min(len(r.pages), featurePages)] {
		if p.domain == "" || place == "" {
			s.add(FeaturePage, p.text)
		} else {
			s.add(FeatureDomainPlace, p.domain, place)
		}
	}
	for _, e := range r.emails[:min(len(r.emails), featurePages)] {
		s.add(FeatureEmail, e)
	}
}

// rarest fills in the distinct tokens that tell most, the heaviest first, ties by
// text, and answers with their number.
func (n *name) rarest(into *[3]*token) int {
	found := 0
	for i := range n.tokens {
		t := &n.tokens[i]
		if t.stop {
			continue
		}
		if slices.ContainsFunc(into[:found], func(u *token) bool { return u.hash == t.hash }) {
			continue
		}
		at := found
		for at > 0 && (t.weight > into[at-1].weight || t.weight == into[at-1].weight && t.text < into[at-1].text) {
			at--
		}
		if at == len(into) {
			continue
		}
		found = min(found+1, len(into))
		copy(into[at+1:found], into[at:found-1])
		into[at] = t
	}
	return found
}
