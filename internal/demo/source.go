// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Sources are the names of the sources.
var Sources = [4]string{"citydir", "yellow", "mapcrowd", "ledger"}

// habit describes how a source writes.
type habit struct {
	key       string // format of its keys
	phone     func(digits string) string
	address   func(p *place) string
	name      func(r *rand.Rand, name string) string
	typos     float64 // share of its names with a typing error
	nothing   float64 // share of filler values such as N/A
	missing   float64 // share of missing values
	stale     float64 // share of out-of-date records
	postcodes bool
	websites  bool
	points    bool
	capitals  bool // cities in upper case
}

var habits = [4]habit{
	{
		key: "cd-%07d", phone: inBrackets, address: abbreviated, name: asItIs,
		typos: 0.01, missing: 0.03, stale: 0.03, postcodes: true, websites: true,
	},
	{
		key: "%d", phone: dotted, address: inCapitals, name: shouted,
		typos: 0.02, nothing: 0.05, missing: 0.04, stale: 0.06, postcodes: true, capitals: true,
	},
	{
		key: "node/%d", phone: international, address: inFull, name: casual,
		typos: 0.08, nothing: 0.03, missing: 0.15, stale: 0.04, websites: true, points: true,
	},
	{
		key: "L%09d", phone: digitsOnly, address: inFull, name: legal,
		typos: 0.01, nothing: 0.06, missing: 0.05, stale: 0.05, postcodes: true,
	},
}

// render writes a record in the style of its source.
func (g *Generator) render(slot int64, revision int) Record {
	n, nth := g.place(slot)
	p := placeAt(g.seed, n, g.era(n))
	// The first records of a place come from different sources; a fifth is a duplicate within one.
	source := int((n + n/int64(len(copies)) + int64(nth)) % int64(len(Sources)))
	h := &habits[source]
	r := random(g.seed, forRecord, slot)
	rec := Record{Source: Sources[source], Key: fmt.Sprintf(h.key, slot+1), Place: n, Attributes: map[string][]string{}}
	if chance(r, h.stale) {
		p.outdate(r)
	}
	if revision > 0 {
		p.renew(random(g.seed, forUpdate+uint64(revision), slot), revision)
	}
	// Chains publish the addresses and telephone numbers of their branches.
	published := map[string]bool{"address": p.branch, "city": p.branch, "phones": p.branch}
	set := func(name, nothing string, values ...string) {
		switch x := r.Float64(); {
		case published[name]:
			rec.Attributes[name] = values
		case x < h.missing:
		case x < h.missing+h.nothing:
			rec.Attributes[name] = []string{nothing}
		default:
			rec.Attributes[name] = values
		}
	}
	rec.Attributes["name"] = []string{h.name(r, typo(r, p.name, h.typos))}
	phones := make([]string, len(p.phones))
	for i, digits := range p.phones {
		phones[i] = h.phone(digits)
	}
	set("phones", pick(r, []string{"000-000-0000", "N/A", "0"}), phones...)
	set("address", pick(r, nothings), h.address(p))
	city := p.city.name
	if h.capitals {
		city = strings.ToUpper(city)
	}
	set("city", pick(r, nothings), city)
	rec.Attributes["region"] = []string{p.city.region}
	rec.Attributes["country"] = []string{"US"}
	rec.Attributes["category"] = []string{p.trade.category}
	if h.postcodes {
		set("postcode", pick(r, []string{"00000", "N/A", "99999"}), strconv.Itoa(p.postcode))
	}
	if h.websites && p.website != "" {
		set("websites", "http://", p.website)
	}
	if h.points {
		set("latitude", "0", fmt.Sprintf("%.5f", p.lat+0.0004*r.NormFloat64()))
		set("longitude", "0", fmt.Sprintf("%.5f", p.lon+0.0004*r.NormFloat64()))
		if lat, lon := rec.Attributes["latitude"], rec.Attributes["longitude"]; lat == nil || lon == nil || lat[0] == "0" || lon[0] == "0" {
			delete(rec.Attributes, "latitude")
			delete(rec.Attributes, "longitude")
		}
	}
	return rec
}

// outdate changes the telephone number or the address to an older one, never both: then the record could not be
// matched.
func (p *place) outdate(r *rand.Rand) {
	if chance(r, 0.5) {
		p.phones = []string{p.phone(r)}
		return
	}
	p.number, p.street, p.unit = 1+r.IntN(2400), pick(r, streetNames), 0
}

// renew changes a detail of the place: its telephone, its unit, or its site.
func (p *place) renew(r *rand.Rand, revision int) {
	switch r.IntN(3) {
	case 0:
		p.phones = append([]string{p.phone(r)}, p.phones...)
	case 1:
		p.unit = 500 + revision%400
	default:
		p.website = fmt.Sprintf("https://www.%s.example/v%d", slug(p.name), revision)
		p.unit = 900 + revision%100
	}
}

func inBrackets(d string) string { return "(" + d[:3] + ") " + d[3:6] + "-" + d[6:] }

func dotted(d string) string { return d[:3] + "." + d[3:6] + "." + d[6:] }

func international(d string) string { return "+1 " + d[:3] + " " + d[3:6] + " " + d[6:] }

func digitsOnly(d string) string { return d }

func abbreviated(p *place) string {
	return fmt.Sprintf("%d %s %s", p.number, p.street, streetTypes[p.kind].short) + unit(p, " #%d")
}

func inCapitals(p *place) string {
	return strings.ToUpper(fmt.Sprintf("%d %s %s", p.number, p.street, streetTypes[p.kind].capital) + unit(p, " STE %d"))
}

func inFull(p *place) string {
	return fmt.Sprintf("%d %s %s", p.number, p.street, streetTypes[p.kind].full) + unit(p, ", Suite %d")
}

func unit(p *place, format string) string {
	if p.unit == 0 {
		return ""
	}
	return fmt.Sprintf(format, p.unit)
}

func asItIs(_ *rand.Rand, name string) string { return name }

// shouted returns a name in upper case without apostrophes, sometimes with "AND" for "&".
func shouted(r *rand.Rand, name string) string {
	if chance(r, 0.5) {
		name = strings.ReplaceAll(name, "&", "and")
	}
	return strings.ToUpper(strings.ReplaceAll(name, "'", ""))
}

// casual leaves out parts of a name, as people do.
func casual(r *rand.Rand, name string) string {
	if chance(r, 0.3) {
		name = strings.ReplaceAll(name, "'", "")
	}
	if chance(r, 0.2) {
		name = strings.TrimPrefix(name, "The ")
	}
	if chance(r, 0.2) {
		name = strings.ToLower(name)
	}
	return name
}

// legal returns the legal name of the company.
func legal(r *rand.Rand, name string) string {
	return name + pick(r, []string{" LLC", ", Inc.", " Inc", " Co.", "", ""})
}

// typo swaps two letters, drops one or doubles one.
func typo(r *rand.Rand, s string, share float64) string {
	if !chance(r, share) {
		return s
	}
	letters := []rune(s)
	if len(letters) < 5 {
		return s
	}
	i := 1 + r.IntN(len(letters)-2)
	switch r.IntN(3) {
	case 0:
		letters[i], letters[i+1] = letters[i+1], letters[i]
	case 1:
		letters = append(letters[:i], letters[i+1:]...)
	default:
		letters = append(letters[:i+1], letters[i:]...)
	}
	return string(letters)
}
