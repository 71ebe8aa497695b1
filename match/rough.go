// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strings"

	"github.com/golang/geo/s2"
)

// The coordinates of a shop are exact to some metres, and those of a town or a lake to some kilometres, because each
// gazetteer takes another point of it. The distances of records with one name show which of the two a list has. In a
// list of towns a name that is rare around one of them is that of the same town, although the coordinates differ.

const (
	// roughPairs is the number of pairs of one name within 25 km from which their distances show it.
	roughPairs = 20
	// roughNames is the number of records from which a name is left out: they meet by chance.
	roughNames = 64
	// roughLevel is the level of the S2 cells within which such records may be one thing: about 18 km across.
	roughLevel = 9
	// mostCrowded is the number of names within a cell of crowdLevel, about 2.4 km across, up to which a rough point still
	// shows which thing it is. A town has many shops, and branches of one name.
	mostCrowded = 3
	crowdLevel  = 12
)

// Squared chords of 10 and 25 km.
var (
	chordRough = squaredChord(10_000)
	chordReach = squaredChord(25_000)
)

// roughCounted is the hash under which a table of a list with rough coordinates has the number of records around one.
var roughCounted = textHash("\x00rough points")

// located is the name of a record and its point.
type located struct {
	name uint64
	point
}

// addRough adds to the table that the coordinates are rough, if at least half of the pairs of one name within 25 km are
// within 2.5 km, so that they are one thing, at least a quarter of these are not within 250 m, and few other names are
// near.
func (p *TermFrequencies) addRough(records []located) {
	slices.SortFunc(records, func(a, b located) int { return cmp.Compare(a.name, b.name) })
	var exact, near, reach int
	for of := range eachGroup(records, func(r located) uint64 { return r.name }) {
		if len(of) > roughNames {
			continue
		}
		for i := range of {
			for j := range i {
				switch d := of[i].to(of[j].point); {
				case d < chord250:
					exact, near, reach = exact+1, near+1, reach+1
				case d < chord2500:
					near, reach = near+1, reach+1
				case d < chordReach:
					reach++
				}
			}
		}
	}
	if reach < roughPairs || 2*near < reach || 4*exact > 3*near || crowd(records) > mostCrowded {
		return
	}
	around, sum := map[s2.CellID]int{}, 0
	for _, r := range records {
		around[r.cellID().Parent(roughLevel)]++
	}
	for _, n := range around {
		sum += n * n
	}
	p.tokens[roughCounted] = uint32(sum/len(records) + 1)
}

// crowd returns how many different names records have within about 2.5 km of a record, on average.
func crowd(records []located) float64 {
	all, names, seen := map[s2.CellID]int{}, map[s2.CellID]int{}, map[[2]uint64]bool{}
	for _, r := range records {
		cell := r.cellID().Parent(crowdLevel)
		all[cell]++
		if of := [2]uint64{r.name, uint64(cell)}; !seen[of] {
			seen[of] = true
			names[cell]++
		}
	}
	sum := 0
	for cell, n := range all {
		sum += n * names[cell]
	}
	return float64(sum) / float64(len(records))
}

// rough reports whether the coordinates of the list are rough.
func (p *TermFrequencies) rough() bool { return p.tokens[roughCounted] > 0 }

// onlyAround reports whether a name of a weight is so rare that another record around hardly has it by chance.
func (p *TermFrequencies) onlyAround(name weight) bool {
	return name >= aboveChance(int(p.tokens[roughCounted]))
}

// allowRough replaces a distance of up to 10 km by the level of rough coordinates, if nothing but names, categories and
// places was compared besides. denyRough takes it back.
func (v *Vector) allowRough(a, b *Record) {
	near := v.level(fieldDistance)
	if !a.matcher.terms.rough() || near == levelNone || near >= distance100 || a.point.to(b.point) >= chordRough {
		return
	}
	rest := *v
	rest.put(fieldDistance, levelNone)
	switch {
	case !rest.namesChain():
	case near == distanceFar:
		v.put(fieldDistance, distanceRough)
	default:
		v.put(fieldDistance, distanceRoughNear)
	}
}

// denyRough puts the distance back, unless nothing is left over of two names whose common words are rare around.
func (v *Vector) denyRough(a, b *Record, common weight) {
	equal := v.level(fieldName) >= nameMost && v.level(fieldResidual) == residualNothing
	if v.isRough() && !(equal && a.matcher.terms.onlyAround(common)) {
		v.put(fieldDistance, comparePoints(a.point, b.point))
	}
}

// isRough reports whether the distance is one of rough coordinates.
func (v Vector) isRough() bool {
	d := v.level(fieldDistance)
	return d == distanceRough || d == distanceRoughNear
}

// emitRough emits the blocking keys of a record with rough coordinates: its rarest word, and the beginning of it, with
// the area.
func (r *Record) emitRough(s *sink) {
	var words [3]*token
	n := rarest(r.name.tokens, &words, r.name.whereMask())
	if n == 0 {
		return
	}
	word := plainVowels(words[0].text)
	cell, corner := r.point.cells(roughLevel)
	for _, text := range [...]string{word, firstLetters(word, keyRough)} {
		s.add(KeyTokenCell, text, cell)
		s.add(KeyTokenCell, text, corner)
	}
}

// keyRough is the number of letters of the beginning of a word.
const keyRough = 4

// markQualifiers marks the words that say where a thing is, or what sort of town it is: Dover, Delaware; Dover (Del.);
// City of Dover. raw is the name as received.
func (n *name) markQualifiers(p *TermFrequencies, raw string) {
	if len(n.tokens) > 2 && townWords[n.tokens[0].text] && n.tokens[1].stop {
		n.tokens[0].where, n.tokens[1].where = true, true
	}
	at := strings.IndexByte(raw, '(')
	if comma := strings.IndexByte(raw, ','); at < 0 || comma >= 0 && comma < at {
		at = comma
	}
	if at <= 0 {
		return
	}
	before := len(parseBusiness(p, fold(raw[:at])).tokens)
	for i := before; i < len(n.tokens) && before > 0; i++ {
		n.tokens[i].where = true
	}
}

// whereMask returns the words that say where the thing is, a bit each.
func (n *name) whereMask() (mask uint32) {
	for i := range n.tokens {
		if n.tokens[i].where {
			mask |= 1 << i
		}
	}
	return mask
}

// townWords begin official names of towns: City of Dover.
var townWords = wordSet(`city town village municipality borough township
commune comune gemeinde stadt ville ciudad municipio cidade gmina miasto`)
