// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Limits for the counts of a term-frequency table.
const (
	// rareToken is the highest count at which a token alone is a blocking key.
	rareToken = 30
	// chainPlaces is the number of distinct places above which a full name counts as a chain's.
	chainPlaces = 8
	// manyTitle is the share of the records, as one in so many, above which a full title is one of many things: 6 bits.
	manyTitle = 64
	// PhoneNames is the number of names up to which a phone number has its full weight; above PhoneCrowd its
	// weight is low. DifferentNames defines which names count as one. The names of live records count, too;
	// see Matcher.Among.
	PhoneNames = 3
	PhoneCrowd = 12
)

// weight is the weight of a token, in hundredths of a nat: 100 ln(1/p), where p is the fraction of names
// with the token. Integers make sums independent of their order.
type weight int32

const (
	weightCommon   weight = 200 // DefaultTermFrequencies: words of business
	weightFamiliar weight = 400 // DefaultTermFrequencies: given names, streets, cities
	weightRare     weight = 450 // DefaultTermFrequencies: words in no table; two shared ones make a name rare
	weightMax      weight = 1200
)

// TermFrequencies is a table of term frequencies: how common tokens and full names are. It is frozen, so decisions
// under it are reproducible, and the state of a resolver includes its Hash. It is safe for concurrent use.
type TermFrequencies struct {
	records int // 0: no statistics, the tables decide
	// hash of token → number of names with it, if more than one; usual days; attributes of series
	tokens    map[uint64]uint32
	chains    map[uint64]uint32 // hash of full name → number of distinct places, of titles records, if more than chainPlaces
	phones    map[uint64]uint32 // phone number, or hash of a mailbox → number of names, if more than PhoneNames
	texts     int               // number of titles whose text is counted among the tokens; 0: no statistics of text
	contrasts bool              // words tell titles apart
	onlyName  weight            // weight from which a name is hardly that of two records by chance
	hash      uint64
}

// DefaultTermFrequencies returns the term-frequency table for use without statistics: words of business are common;
// given names, streets and cities are familiar; words in no table are rare; the best known chains are listed.
var DefaultTermFrequencies = sync.OnceValue(func() *TermFrequencies {
	p := &TermFrequencies{tokens: map[uint64]uint32{}, chains: map[uint64]uint32{}, phones: map[uint64]uint32{}}
	for name := range strings.FieldsFuncSeq(chainNames, func(r rune) bool { return r == ',' || r == '\n' }) {
		p.chains[xxhash.Sum64String(name)] = chainPlaces + 1
	}
	p.hash = p.sum()
	return p
})

const (
	// fewCounted is the number of records with a name below which the built-in tables are better than counts; see
	// TermsOf.
	fewCounted = 500
	// mostCounted is the number of records that TermsOf counts at most: the weight of a word reaches its maximum when
	// one name in 160,000 has it.
	mostCounted = 100_000
)

// TermsOf returns the term-frequency table to compare records with: counts over the distinct records, or over a sample
// if there are more than 100,000; DefaultTermFrequencies if fewer than 500 have a name. It uses no labels, and the
// order of the records does not matter. The sample is in memory.
func TermsOf(s *Schema, records iter.Seq[Attributes]) *TermFrequencies {
	sample, highest := map[uint64]Attributes{}, uint64(math.MaxUint64) // by hash of the content
	for a := range records {
		content, _ := json.Marshal(a) // sorted keys; cannot fail for maps of strings
		if h := xxhash.Sum64(content); h <= highest {
			sample[h] = a
		}
		for len(sample) > mostCounted {
			highest /= 2
			maps.DeleteFunc(sample, func(h uint64, _ Attributes) bool { return h > highest })
		}
	}
	switch p, tells := countTerms(s, maps.Values(sample)); {
	case p.records >= fewCounted:
		p.sampled(float64(math.MaxUint64) / float64(highest))
		return p
	case len(tells.tokens) > 0:
		return tells
	}
	return DefaultTermFrequencies()
}

// CountTerms counts the tokens and full names of distinct records. It uses no labels. Duplicates count
// twice, so leave them out.
func CountTerms(s *Schema, records iter.Seq[Attributes]) *TermFrequencies {
	p, _ := countTerms(s, records)
	return p
}

// countTerms also returns the default table with what tells things of one name apart, without frequencies.
func countTerms(s *Schema, records iter.Seq[Attributes]) (p, tells *TermFrequencies) {
	p = &TermFrequencies{tokens: map[uint64]uint32{}, chains: map[uint64]uint32{}, phones: map[uint64]uint32{}}
	type carrier struct{ name, spot uint64 }
	var carriers []carrier
	type called struct {
		phone, family uint64
		name          []token
	}
	var phones []called // and mailboxes
	var points []located
	credits, lasting := map[uint64]uint32{}, durations{}
	days, counted, titles, same := dayCounts{}, newSeries(), contrast{}, &namesakes{}
	m := New(s, DefaultTermFrequencies())
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
		if r.title != nil {
			p.tokens[textCounted]++
			titles.add(r)
			for _, c := range r.people {
				credits[c.hash()]++
			}
			for _, w := range r.title.bag.words {
				p.tokens[w.hash]++
			}
		}
		of := carrier{r.name.hash, r.spot()}
		if r.title != nil {
			of.spot = uint64(p.records) // each record counts
		}
		carriers = append(carriers, of)
		for i := range r.phones {
			phones = append(phones, called{r.phones[i].number(), r.family(), r.name.tokens})
		}
		for _, e := range r.emails {
			phones = append(phones, called{boxHash(e), r.family(), r.name.tokens})
		}
		counted.add(r)
		lasting.add(r)
		if s.Style() == StylePerson {
			same.add(r)
			p.addCity(r.city)
		}
		for _, d := range r.dates {
			days.add(d)
		}
		if s.Style() == StyleBusiness && r.point.valid() {
			points = append(points, located{r.name.hash, r.point})
		}
	}
	p.addRough(points)
	names := map[[2]uint64]bool{}
	for _, c := range phones {
		if name := [2]uint64{c.phone, cmp.Or(c.family, p.rarest(c.name))}; !names[name] {
			names[name] = true
			p.phones[c.phone]++
		}
	}
	maps.DeleteFunc(p.phones, func(_ uint64, n uint32) bool { return n <= PhoneNames })
	maps.DeleteFunc(p.tokens, func(_ uint64, n uint32) bool { return n < 2 }) // a missing token weighs the same
	p.addDays(days)
	if s.Style() == StylePerson {
		p.addOdds(same)
	}
	tells = &TermFrequencies{tokens: map[uint64]uint32{}, chains: DefaultTermFrequencies().chains, phones: map[uint64]uint32{}}
	tells.addSeries(counted)
	titles.addTo(tells)
	lasting.addTo(tells)
	maps.DeleteFunc(credits, func(_ uint64, n uint32) bool { return n < 2 })
	maps.Copy(tells.tokens, credits)
	tells.finish()
	maps.Copy(p.tokens, tells.tokens)
	slices.SortFunc(carriers, func(a, b carrier) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.spot, b.spot)) })
	carriers = slices.Compact(carriers)
	for of := range eachGroup(carriers, func(c carrier) uint64 { return c.name }) {
		if n := len(of); n > chainPlaces && (s.Style() != StyleTitle || n*manyTitle > p.records) {
			p.chains[of[0].name] = uint32(n)
		}
	}
	p.finish()
	return p, tells
}

// overChance is how much heavier a name is, in hundredths of a nat, than one that a single record has by chance.
const overChance = 200

// finish sets what follows from the counts.
func (p *TermFrequencies) finish() {
	p.texts, p.hash = int(p.tokens[textCounted]), p.sum()
	p.contrasts = p.tokens[tellsHash("")] > 0
	p.onlyName = aboveChance(max(p.records, int(p.tokens[allCounted])))
}

// allCounted is the hash under which a table that counts a sample has the number of all records.
var allCounted = textHash("\x00all")

// sampled sets how many times as many records there are as were counted.
func (p *TermFrequencies) sampled(times float64) {
	if times > 1 {
		p.tokens[allCounted] = uint32(min(times*float64(p.records), math.MaxUint32))
		p.finish()
	}
}

// aboveChance returns the weight from which a name is hardly that of two of n records by chance.
func aboveChance(n int) weight { return overChance + weight(100*math.Log(float64(max(n, 1)))) }

// Records returns the number of counted names, 0 for a term-frequency table without statistics.
func (p *TermFrequencies) Records() int { return p.records }

// Tokens returns the number of tokens with a count.
func (p *TermFrequencies) Tokens() int { return len(p.tokens) }

// Chains returns the number of full names that count as chains.
func (p *TermFrequencies) Chains() int { return len(p.chains) }

// Hash identifies the term-frequency table: equal content gives an equal hash on every machine.
func (p *TermFrequencies) Hash() uint64 { return p.hash }

func (p *TermFrequencies) sum() uint64 {
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

// weigh returns the weight of a folded token, and whether the token alone is rare enough for a blocking key.
func (p *TermFrequencies) weigh(text string, hash uint64, role nameRole) (w weight, rare bool) {
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
		w, rare = min(max(w, 10), weightMax), n <= rareToken
	}
	if role&nameStop != 0 {
		w, rare = w*3/10, false
	}
	return w, rare
}

// rarest returns the hash of the rarest word of a name. Words of trades and addresses are used only if
// there are no others.
func (p *TermFrequencies) rarest(name []token) (word uint64) {
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

// names returns the number of names of a phone number, 0 if they are few.
func (p *TermFrequencies) names(number uint64) int { return int(p.phones[number]) }

// chain reports whether so many places share a full name that it identifies none of them.
func (p *TermFrequencies) chain(name uint64) bool { return p.chains[name] > chainPlaces }
