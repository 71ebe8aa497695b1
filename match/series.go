// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A title may name a series instead of a thing: the evenings of a tour, the vintages of a wine, the packs of a drug.
// The records show which attribute distinguishes the things of a series. If values vary only because one thing is
// written in different ways, the values other than the commonest are slips, and each occurs once. In a series they
// recur: several records of the title have the second value, too. So values are counted among the records of each
// title, and where they recur, different values mean different things.

const (
	// seriesTitle is the least number of records of a title in which a second value can recur like the first.
	seriesTitle = 4
	// seriesShare is a threshold for the records whose value is not the commonest of their title. An attribute
	// distinguishes things if at least this share of them, beyond chance, has the same value as another record of the
	// title.
	seriesShare = 0.25
	// nearShare is the threshold for values a small gap apart if larger gaps show nothing: values of one thing are
	// often a year apart.
	nearShare = 0.75
	// variantShare is the threshold for a variant. Chance alone gives a higher share there, because neighbouring values
	// count as well; variantSure is how many standard deviations above chance the share must be.
	variantShare = 0.18
	variantSure  = 2
	// mostOfTitle is how many records of one title are counted. A title with more records carries little information,
	// such as Editorial.
	mostOfTitle = 16
	// seriesLeast is the number of such records below which an attribute is not judged.
	seriesLeast = 20
)

// gap is the distance between two values of an attribute. A small gap may be rounding where a large one is not.
type gap uint8

const (
	gapNone gap = iota // equal, or not comparable
	gapNear            // one year, or 5 %
	gapFar
)

// gaps is a set of distances.
type gaps uint8

func (g gaps) has(one gap) bool { return g&(1<<one) != 0 }

func dateGap(l level) gap {
	switch l {
	case dateNextYear:
		return gapNear
	case dateDifferent, dateOtherDay, dateTwoOff, dateOneOff:
		return gapFar
	}
	return gapNone
}

func numberGap(l level) gap {
	switch l {
	case quantityClose:
		return gapNear
	case quantityFar, quantityApart, quantityNear:
		return gapFar
	}
	return gapNone
}

// valued is a value of an attribute in a record of a title.
type valued struct{ title, value uint64 }

// series are the values of each date and number of titles, and of each variant.
type series struct {
	values map[*Attribute][]valued
	parts  map[uint64][]string // of variants, by the hash that is their value
	ids    map[string][]valued // by attribute; all sources share them
}

func newSeries() series {
	return series{map[*Attribute][]valued{}, map[uint64][]string{}, map[string][]valued{}}
}

func (s series) add(r *Record) {
	for _, v := range r.variants {
		hash := textHash(strings.Join(v.parts, " "))
		s.parts[hash] = v.parts
		s.values[v.attribute] = append(s.values[v.attribute], valued{r.withoutVariants(), hash})
	}
	if r.title == nil {
		return
	}
	for _, id := range r.ids {
		if id.world {
			s.ids[id.attribute] = append(s.ids[id.attribute], valued{r.name.hash, textHash(id.value)})
		}
	}
	for _, d := range r.dates {
		s.values[d.attribute] = append(s.values[d.attribute], valued{r.name.hash, d.date.packed()})
	}
	for _, q := range r.numbers {
		s.values[q.attribute] = append(s.values[q.attribute], valued{r.name.hash, math.Float64bits(q.number)})
	}
}

func (d date) packed() uint64 { return uint64(d.year)<<16 | uint64(d.month)<<8 | uint64(d.day) }

// gap returns the distance between two values of an attribute.
func (s series) gap(a *Attribute, x, y uint64) gap {
	if a.Role == RoleVariant {
		if vary(s.parts[x], s.parts[y]) {
			return gapFar
		}
		return gapNone
	}
	if a.Type == TypeNumber {
		return numberGap(compareQuantities(math.Float64frombits(x), math.Float64frombits(y)))
	}
	of := func(v uint64) date { return date{uint16(v >> 16), uint8(v >> 8), uint8(v)} }
	return dateGap(compareDates(of(x), of(y)))
}

// seriesHash is the hash under which a table stores the number of records whose values recur at a gap.
func seriesHash(a *Attribute, g gap) uint64 {
	return textHash("\x00series" + string('0'+rune(g)) + a.Name)
}

// addSeries adds the attributes that distinguish things of one title to the table.
func (p *TermFrequencies) addSeries(counts series) {
	for a, values := range counts.values {
		slices.SortFunc(values, func(x, y valued) int { return cmp.Or(cmp.Compare(x.title, y.title), cmp.Compare(x.value, y.value)) })
		for g, n := range counts.recurring(a) {
			if n >= seriesLeast {
				p.tokens[seriesHash(a, gap(g))] = uint32(n) //nolint:gosec // at most the records
			}
		}
	}
	for a, found := range counts.apart() {
		for _, g := range [...]gap{gapNear, gapFar} {
			if h := seriesHash(a, g); found.has(g) && p.tokens[h] == 0 {
				p.tokens[h] = seriesLeast
			}
		}
	}
}

// Tells reports whether, according to the table, different values of an attribute mean different things of one name.
func (p *TermFrequencies) Tells(a Attribute) bool { return p.tells(&a) != 0 }

// Avoided reports whether all that the table has found of a variant is that few records of one name share its value.
// The shops that list a thing once avoid each other, too.
func (p *TermFrequencies) Avoided(a Attribute) bool {
	return a.Role == RoleVariant && p.tells(&a) == 1<<gapNear
}

// tells returns the gaps at which two values of an attribute mean different things.
func (p *TermFrequencies) tells(a *Attribute) (g gaps) {
	for _, one := range [...]gap{gapNear, gapFar} {
		if p.tokens[seriesHash(a, one)] > 0 {
			g |= 1 << one
		}
	}
	return g
}

// recurring returns, for each gap, how many records share a value at that distance from the commonest value of their
// title with another record of the title. It is 0 if they are hardly more than by chance. The chance depends on how
// common a value is, and how often it occurs together with the commonest one in other titles: two names of one colour
// occur together in many titles.
func (s series) recurring(a *Attribute) (found [gapFar + 1]int) {
	values := s.values[a]
	k := chances{common: map[uint64]int{}, beside: map[[2]uint64]int{}}
	for _, v := range values {
		k.common[v.value]++
	}
	for of := range byTitle(values) {
		first := commonest(of)
		for _, r := range of {
			if a.Role == RoleVariant && s.gap(a, r.value, first.value) != gapNone {
				k.beside[[2]uint64{first.value, r.value}] += r.records
				k.beside[[2]uint64{first.value}] += r.records
			}
		}
	}
	var shared, others, chance, spread [gapFar + 1]float64
	for of := range byTitle(values) {
		of = s.spelled(a, of)
		first := commonest(of)
		records := 0
		var apart [gapFar + 1]int
		for _, r := range of {
			apart[s.gap(a, r.value, first.value)] += r.records
			records += r.records
		}
		for _, r := range of {
			g, n := s.gap(a, r.value, first.value), float64(r.records)*min(1, mostOfTitle/float64(records))
			others[g] += n
			if r.records > 1 {
				shared[g] += n
			}
			p := 1 - math.Pow(1-min(k.of(r, first, len(values), apart[g]), 1), float64(apart[g]-1))
			chance[g] += n * p
			spread[g] += n * n * p * (1 - p)
		}
	}
	for _, g := range [...]gap{gapFar, gapNear} {
		share, least := seriesShare, 0.0
		if a.Role == RoleVariant {
			share, least = variantShare, variantSure*math.Sqrt(spread[g])
		}
		if g == gapNear && found[gapFar] == 0 {
			share = nearShare
		}
		if beyond := shared[g] - chance[g]; beyond > max(least, share*(others[g]-chance[g])) {
			found[g] = int(shared[g])
		}
	}
	return found
}
