// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Limits of a pack's counts.
const (
	// RareToken is the highest count at which a token alone is a feature.
	RareToken = 30
	// ChainPlaces is the number of distinct places beyond which a full name
	// counts as a chain's.
	ChainPlaces = 8
	// PhoneNames is the number of names that a phone may have and still be as good as one's own, and PhoneCrowd that above
	// which it says little. DifferentNames says which names are one. The names of the live records count too, see
	// Matcher.Among.
	PhoneNames = 3
	PhoneCrowd = 12
)

// weight is how much a token tells, in hundredths of a nat: 100 ln(1/p), where
// p is the share of names with the token. Integers keep sums independent of
// their order.
type weight int32

const (
	weightCommon   weight = 200 // DefaultPack: words of business
	weightFamiliar weight = 400 // DefaultPack: given names, streets, cities
	weightRare     weight = 450 // DefaultPack: a word that is in no table; two of them make a name rare
	weightMax      weight = 1200
)

// Pack holds the statistics behind the weights: how common tokens and full
// names are. It is frozen: what was decided under a pack is decided the same
// way for ever, and the state of a resolver names the pack's Hash. A pack is
// safe for use by many goroutines.
type Pack struct {
	records int               // 0: no statistics, the tables decide
	tokens  map[uint64]uint32 // hash of token → names that have it, if more than one
	chains  map[uint64]uint32 // hash of full name → its distinct places, where more than ChainPlaces
	phones  map[uint64]uint32 // number → how many names it has, where more than PhoneNames
	hash    uint64
}

// DefaultPack is the pack of a resolver that has seen no data yet: words of
// business are common, given names, streets and cities familiar, whatever is in
// no table is rare, and the best known chains are chains.
var DefaultPack = sync.OnceValue(func() *Pack {
	p := &Pack{tokens: map[uint64]uint32{}, chains: map[uint64]uint32{}, phones: map[uint64]uint32{}}
	for name := range strings.FieldsFuncSeq(chainNames, func(r rune) bool { return r == ',' || r == '\n' }) {
		p.chains[xxhash.Sum64String(name)] = ChainPlaces + 1
	}
	p.hash = p.sum()
	return p
})

// BuildPack counts the tokens and full names of distinct records. It sees no
// labels. Records said twice count twice: leave out what repeats.
func BuildPack(s *Schema, records iter.Seq[Attributes]) *Pack {
	p := &Pack{tokens: map[uint64]uint32{}, chains: map[uint64]uint32{}, phones: map[uint64]uint32{}}
	type carrier struct{ name, spot uint64 }
	var carriers []carrier
	type called struct {
		phone, family uint64
		name          []token
	}
	var phones []called
	m := New(s, DefaultPack())
	for a := range records {
		r := m.Normalise("", "", a)
		if len(r.name.tokens) == 0 {
			continue
		}
		p.records++
		for i, t := range r.name.tokens {
			if !slices.ContainsFunc(r.name.tokens[:i], func(u token) bool { return u.hash == t.hash }) {
				p.tokens[t.hash]++
			}
		}
		carriers = append(carriers, carrier{r.name.hash, r.spot()})
		for i := range r.phones {
			phones = append(phones, called{r.phones[i].number(), r.family(), r.name.tokens})
		}
	}
	names := map[[2]uint64]bool{}
	for _, c := range phones {
		if name := [2]uint64{c.phone, cmp.Or(c.family, p.rarest(c.name))}; !names[name] {
			names[name] = true
			p.phones[c.phone]++
		}
	}
	maps.DeleteFunc(p.phones, func(_ uint64, n uint32) bool { return n <= PhoneNames })
	maps.DeleteFunc(p.tokens, func(_ uint64, n uint32) bool { return n < 2 }) // one that is not there weighs the same
	slices.SortFunc(carriers, func(a, b carrier) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.spot, b.spot)) })
	carriers = slices.Compact(carriers)
	for len(carriers) > 0 {
		n := 1
		for n < len(carriers) && carriers[n].name == carriers[0].name {
			n++
		}
		if n > ChainPlaces {
			p.chains[carriers[0].name] = uint32(n)
		}
		carriers = carriers[n:]
	}
	p.hash = p.sum()
	return p
}

// Records is how many names the pack has counted, 0 for one that says nothing of its own.
func (p *Pack) Records() int { return p.records }

// Tokens is how many tokens of names the pack has a count of, Chains how many full names it takes for
// chains'.
func (p *Pack) Tokens() int { return len(p.tokens) }

// Chains is how many full names are chains'; see Tokens.
func (p *Pack) Chains() int { return len(p.chains) }

// Hash names the pack: equal content, equal hash, on every machine.
func (p *Pack) Hash() uint64 { return p.hash }

func (p *Pack) sum() uint64 {
	buf := binary.LittleEndian.AppendUint64([]byte("locus-pack/2"), uint64(p.records))
	for _, counts := range []map[uint64]uint32{p.tokens, p.chains, p.phones} {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(len(counts)))
		for _, h := range slices.Sorted(maps.Keys(counts)) {
			buf = binary.LittleEndian.AppendUint64(buf, h)
			buf = binary.LittleEndian.AppendUint32(buf, counts[h])
		}
	}
	return xxhash.Sum64(buf)
}

// weigh weighs one folded token and says whether it is rare enough to be a
// feature by itself.
func (p *Pack) weigh(text string, hash uint64, role nameRole) (w weight, rare bool) {
	if p.records == 0 {
		switch {
		case role&(nameBusiness|nameStop) != 0:
			w = weightCommon
		case role&nameFamiliar != 0:
			w = weightFamiliar
		default:
			w, rare = weightRare, true
		}
		if len(text) <= 2 || digits(text) {
			w, rare = min(w, weightCommon), false
		}
	} else {
		n := max(p.tokens[hash], 1)
		w = weight(math.Round(100 * math.Log(float64(p.records+1)/float64(n))))
		w, rare = min(max(w, 10), weightMax), n <= RareToken
	}
	if role&nameStop != 0 {
		w, rare = w*3/10, false
	}
	return w, rare
}

// rarest is the word of a name that the fewest names have, of those that are none of trades and addresses if it has any.
func (p *Pack) rarest(name []token) (word uint64) {
	var of *token
	for i := range name {
		t := &name[i]
		switch {
		case of == nil, of.general && !t.general:
		case t.general && !of.general:
			continue
		case cmp.Or(cmp.Compare(p.tokens[t.hash], p.tokens[of.hash]), cmp.Compare(t.hash, of.hash)) >= 0:
			continue
		}
		of, word = t, t.hash
	}
	return word
}

// names is how many names a number has, 0 if they are few.
func (p *Pack) names(number uint64) int { return int(p.phones[number]) }

// chain says whether a full name is carried by so many places that it names none.
func (p *Pack) chain(name uint64) bool { return p.chains[name] > ChainPlaces }
