// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The size of the world.
const (
	cities = 1100 // fewer than the product of cityStarts and cityEnds
	chains = 120

	chainShare       = 0.12
	switchboardShare = 0.03 // places that share a telephone number with others in their city
	secondPhoneShare = 0.15
	unitShare        = 0.18
	websiteShare     = 0.55
)

// place is the truth behind records.
type place struct {
	n        int64
	era      int
	name     string
	trade    trade
	number   int
	street   string
	kind     int // index into streetTypes
	unit     int // 0 for none
	city     city
	postcode int
	phones   []string // ten digits each
	website  string
	lat, lon float64
	branch   bool // part of a chain
}

type city struct {
	name, region string
	area         int // telephone area code
	postcode     int // its first postal code
	lat, lon     float64
}

// random returns a random source that depends on the seed, the purpose and n.
func random(seed uint64, purpose uint64, n int64) *rand.Rand {
	return rand.New(rand.NewPCG(seed*0x9e3779b97f4a7c15+purpose, uint64(n)))
}

// Purposes of randomness: each has its own random numbers.
const (
	forPlace = iota + 1
	forCity
	forChain
	forSwitchboard
	forRecord
	forUpdate // plus the revision
)

const forViews = 1 << 40

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// cityAt returns the n-th city. A seventh of all places are in San Francisco, Portland and Chicago.
func cityAt(seed uint64, n int) city {
	switch n {
	case 0:
		return city{"San Francisco", "CA", 415, 94102, 37.7749, -122.4194}
	case 1:
		return city{"Portland", "OR", 503, 97201, 45.5152, -122.6784}
	case 2:
		return city{"Chicago", "IL", 312, 60601, 41.8781, -87.6298}
	}
	r := random(seed, forCity, int64(n))
	region := regions[n%len(regions)]
	postcode, name := 10000+n%cities*80, cityStarts[n%len(cityStarts)]
	if era := n / cities; era > 0 {
		postcode = postcode*100 + era // a common prefix still means near
		name += nameMiddles[era%len(nameMiddles)]
	}
	return city{
		name:     name + cityEnds[n/len(cityStarts)%len(cityEnds)],
		region:   region.name,
		area:     201 + (n*7)%787,
		postcode: postcode,
		lat:      region.lat + 4*r.Float64() - 2,
		lon:      region.lon + 4*r.Float64() - 2,
	}
}

// fictional is how many places get telephone numbers of the fictional exchange 555. It holds ten thousand numbers for
// each area, too few for more places; further places use any exchange.
const fictional = 100_000

// phone draws a number in the place's city.
func (p *place) phone(r *rand.Rand) string {
	exchange := 555
	if p.n >= fictional {
		exchange = 200 + r.IntN(800)
	}
	return fmt.Sprintf("%03d%03d%04d", p.city.area, exchange, r.IntN(10000))
}

// era is how many times the cities, chains and proper names of a steady stream have been replaced.
func (g *Generator) era(n int64) int {
	if !g.steady {
		return 0
	}
	return int(n / eraPlaces)
}

// eraPlaces is the number of places in an era; it gives cities the size that they have in a stream of 220,000 records.
const eraPlaces = 100_000

// placeAt returns the n-th place.
func placeAt(seed uint64, n int64, era int) *place {
	r := random(seed, forPlace, n)
	where := r.IntN(cities)
	if chance(r, 1.0/7) {
		where = r.IntN(3)
	}
	where += era * cities
	p := &place{
		n: n, era: era,
		city:   cityAt(seed, where),
		number: 1 + r.IntN(2400), street: pick(r, streetNames), kind: r.IntN(len(streetTypes)),
	}
	if era > 0 && chance(r, 0.5) { // the other half have common names
		p.street = coined(r, era)
	}
	if chance(r, unitShare) {
		p.unit = 1 + r.IntN(400)
	}
	p.phones = []string{p.phone(r)}
	if chance(r, secondPhoneShare) {
		p.phones = append(p.phones, p.phone(r))
	}
	if chance(r, switchboardShare) {
		p.share(seed, n/200)
	}
	p.postcode = p.city.postcode + r.IntN(20)
	p.lat = p.city.lat + 0.16*r.Float64() - 0.08
	p.lon = p.city.lon + 0.16*r.Float64() - 0.08
	if chance(r, chainShare) {
		p.join(seed, era*chains+r.IntN(1+r.IntN(chains))) // a few chains are large
		return p
	}
	p.trade = pick(r, trades)
	p.name = name(r, p)
	if chance(r, websiteShare) {
		p.website = "https://www." + slug(p.name) + "-" + slug(p.city.name) + ".example/"
	}
	return p
}

// join makes the place a branch of a chain: name and trade are the chain's, and its site has a page for each city.
func (p *place) join(seed uint64, chain int) {
	r := random(seed, forChain, int64(chain))
	p.branch = true
	p.trade = pick(r, trades)
	p.name = pick(r, adjectives) + " " + pick(r, nouns) + " " + pick(r, p.trade.words)
	p.website = "https://www." + slug(p.name) + ".example/" + slug(p.city.name)
}

// share gives the place the telephone number and the city of a group that shares a switchboard.
func (p *place) share(seed uint64, group int64) {
	r := random(seed, forSwitchboard, group)
	p.city = cityAt(seed, p.era*cities+r.IntN(cities))
	p.phones = []string{p.phone(r)}
}

func name(r *rand.Rand, p *place) string {
	word := pick(r, p.trade.words)
	switch n := r.IntN(10); {
	case n < 1:
		return pick(r, givenNames) + "'s " + word
	case n < 2:
		return pick(r, surnames) + "'s " + word
	case n < 4:
		return coined(r, p.era) + "'s " + word
	case n < 5:
		return pick(r, surnames) + " & " + coined(r, p.era) + " " + word
	case n < 6:
		return p.street + " " + streetTypes[p.kind].full + " " + word
	case n < 7:
		return coined(r, p.era) + " " + word
	case n < 9:
		return pick(r, adjectives) + " " + pick(r, nouns) + " " + word
	default:
		return "The " + pick(r, adjectives) + " " + pick(r, nouns)
	}
}

// coined composes one of a hundred thousand proper names, so that names do not run out in long streams.
func coined(r *rand.Rand, era int) string {
	name := pick(r, nameStarts) + pick(r, nameMiddles)
	if era > 0 {
		name += nameMiddles[era%len(nameMiddles)]
	}
	return name + pick(r, nameEnds)
}

// slug returns a name in the form used in web addresses.
func slug(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		default:
			return -1
		}
	}, s)
}
