// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"strings"
)

// spellTitleWord writes a folded word of a title in one of its usual spellings: standard for std, color for colour,
// optimization for optimisation.
func spellTitleWord(w string) string {
	if n := len(w); n > len("isation")+2 && (strings.HasSuffix(w, "isation") || strings.HasSuffix(w, "isations")) {
		at := strings.LastIndex(w, "isation")
		return w[:at] + "ization" + w[at+len("isation"):]
	}
	return cmp.Or(titleSpellings[w], w)
}

// titleSpellings maps the other spellings of a word to the first one.
var titleSpellings = spellings(spellingsOfTitles)

// spellingsOfTitles has a word and its other spellings in a line, folded: British and American ones, and abbreviations
// of catalogues and references. Those that also mean something else, such as ed or trans, are left out.
const spellingsOfTitles = `
academic acad
adapter adaptor
aluminum aluminium
analog analogue
assorted asst asstd
barbecue barbeque bbq
behavior behaviour
bottle btl
catalog catalogue
center centre
chapter chap
chocolate choc
color colour
conference conf
cozy cosy
deluxe dlx
donut doughnut
edition edn
estrogen oestrogen
favorite favourite
fiber fibre
flavor flavour
flavored flavoured
gray grey
harbor harbour
honor honour
humor humour
jewelry jewellery
journal jnl
labor labour
large lrg lge
license licence
mac macintosh macos osx
modeling modelling
mold mould
neighbor neighbour
organizer organiser
original orig
package pkg
packet pkt
pajamas pyjamas
pediatric paediatric
proceedings proc
professional pro
program programme
small sml
standard std
sulfate sulphate
sulfur sulphur
symposium symp
theater theatre
tire tyre
traveler traveller
upgrade upg upgrd
windows win pc
yogurt yoghurt
`
