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

// FeatureKind is what a feature is made of. The values are part of the stored hashes and never change their
// meaning.
type FeatureKind uint8

// The kinds of features.
const (
	FeaturePhone       FeatureKind = 1  // last nine digits, or all if fewer
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
	FeatureID          FeatureKind = 12 // identifier, of its source or global
	FeatureNames       FeatureKind = 13 // sound of given and family name
	FeatureNameYear    FeatureKind = 14 // sound of a name x year
	FeatureNamePlace   FeatureKind = 15 // sound of a name x postcode or city
	FeatureDateInitial FeatureKind = 16 // day x initial of a name; year x both initials
	FeatureModel       FeatureKind = 17 // model number
	FeatureBrandWord   FeatureKind = 18 // brand x the rarest word
	FeatureDatePlace   FeatureKind = 19 // day x sound of the city
	FeatureEqual       FeatureKind = 20 // all compared content
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

// String returns the readable name.
func (k FeatureKind) String() string {
	if int(k) < len(featureKinds) && featureKinds[k] != "" {
		return featureKinds[k]
	}
	return "feature " + strconv.Itoa(int(k))
}

// The last two bits of a feature's hash encode its limit of carriers.
const (
	bitsOfLimit     = 3
	limitEverywhere = 1
	limitEqual      = 2
	limitWords      = 3
)

// limit returns the code of the limit. Features without a location have lower limits, because the number of
// their carriers grows with the number of records.
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

// MarshalText returns the text of String.
func (k FeatureKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Feature is a blocking key: records that share one are compared. Its hash is the 64-bit xxHash (seed 0) of
// the byte of its kind, the kind of the record unless that is place, and the parts, each followed by 0x1f;
// the last two bits are replaced by the code of the limit, see MostCarriers. Hashes are stored: the same
// parts give the same hash for ever, on every machine.
type Feature struct {
	Hash uint64
	Kind FeatureKind
}

// MostCarriers returns how many distinct contents may carry a feature before it is generic and yields no
// candidates: GenericAbove, or GenericEverywhere or GenericWords for features without a location. Identical
// records count once.
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

// Features returns the record's distinct features, ordered by hash. The caller must not change them.
func (r *Record) Features() []Feature { return r.features }

// Feature returns the kind and the readable parts of one of the record's features.
func (r *Record) Feature(hash uint64) (kind FeatureKind, text string, ok bool) {
	s := sink{salt: r.matcher.salt, want: hash, explain: true}
	r.emit(&s)
	return s.kind, s.text, s.found
}

// sink receives features: it collects them, or looks for one of them.
type sink struct {
	features []Feature
	salt     string // the record's kind, unless place: two kinds share no features
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

// Limits on the features per record. Every feature costs the resolver a write and a read at a random
// location, so a record has about six.
const (
	featurePhones = 4
	featurePages  = 2
	featureWords  = 2
	featureWeight = 300 // of the second word: "pizza" with a postcode would match half a town
)

// emit emits the record's features, possibly with duplicates.
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

// emitAddress emits the features of the house. The number with the street is specific while there are few
// records; later a street name that every town has becomes generic, and the number with the postcode, or
// with street and city, takes over.
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
	s.add(FeatureStreet, number, firstLetters(street, 6)) // with four letters there would be only a few hundred streets
	if r.postcode == "" && r.city != "" && (nameWords[street]&nameFamiliar != 0 || isDigit(street[0])) {
		s.add(FeatureStreetPlace, number, firstLetters(street, 4), r.city)
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

// emitName emits the rarest words combined with a location, and one feature for records without a location.
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

// rarest fills in the distinct tokens with the highest weight, heaviest first, ties by text, and returns
// their number.
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
