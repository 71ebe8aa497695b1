// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// The tables of the built-in kind, folded. Stored data depends on them, so a change appears in the golden files and is
// reviewed there.

// nameRole is the function of a word in a name.
type nameRole uint8

const (
	nameStop     nameRole = 1 << iota // a stop word: the, inc, gmbh
	nameTitle                         // part of a person's name: dr, md
	nameOrdinal                       // distinguishes siblings like a number: ii, north
	nameBusiness                      // describes the type of the thing
	nameFamiliar                      // common in many names
)

// streetRole is the function of a word in an address.
type streetRole uint8

const (
	streetUnit      streetRole = 1 << iota // a unit inside the house follows
	streetCut                              // a description of the location follows: between, near
	streetDirection                        // not part of the street's name
	streetType                             // street, rue, via
	streetRoad                             // a number directly after it is the road's name
	streetNumber                           // announces the house number
)

// streetEntry is a word of an address in canonical spelling.
type streetEntry struct {
	spelling string
	role     streetRole
}

// isSharedHost reports whether unrelated parties share a registrable domain, so that only a whole page
// identifies a thing.
func isSharedHost(domain string) bool { return sharedHosts[domain] }

// lookStreet returns the canonical spelling of a word of an address ("street" and "str" as "st", "first" as
// "1st", "hauptstrasse" as "hauptstr") and its role.
func lookStreet(word string) streetEntry {
	if e, ok := streetWords[word]; ok {
		return e
	}
	if len(word) > len("strasse")+2 && strings.HasSuffix(word, "strasse") {
		word = word[:len(word)-len("asse")]
	}
	return streetEntry{spelling: word}
}

// nameWords are words with a role in names.
var nameWords = func() map[string]nameRole {
	m := map[string]nameRole{}
	for role, list := range map[nameRole]string{
		nameStop: stopWords, nameTitle: titleWords, nameOrdinal: ordinalWords,
		nameBusiness: businessWords, nameFamiliar: familiarWords,
	} {
		for word := range strings.FieldsSeq(list) {
			m[word] |= role
		}
	}
	for _, word := range easternTrades {
		m[word] |= nameBusiness
	}
	return m
}()

// streetWords are words with a role in addresses, with their spellings.
var streetWords = func() map[string]streetEntry {
	m := map[string]streetEntry{}
	for role, list := range map[streetRole]string{
		streetUnit: unitWords, streetCut: cutWords, streetDirection: directionWords,
		streetType: typeWords, streetRoad: roadWords, streetNumber: numberWords,
	} {
		for word := range strings.FieldsSeq(list) {
			m[word] = streetEntry{word, m[word].role | role}
		}
	}
	for other, word := range spellings(spellingsOfStreets) {
		m[other] = streetEntry{word, m[word].role}
	}
	return m
}()

var sharedHosts = func() map[string]bool {
	m := map[string]bool{}
	for host := range strings.FieldsSeq(sharedHostNames) {
		m[host] = true
	}
	return m
}()

const stopWords = `
the a an of and at in on by for
inc incorporated llc llp ltd limited co corp corporation company plc pc pllc pa lp
gmbh mbh ag kg ohg ev ug sa sas sarl sl slu srl spa snc bv nv ab as oy aps kft pty sdn bhd lda ltda
le la les el los las der die das de du des di da do del della dello e et y und i il lo`

const titleWords = `dr md do dds dmd dpm phd np rn esq advisor agent officer realtor`

const sharedHostNames = `
facebook.com fb.com fb.me instagram.com twitter.com x.com youtube.com linkedin.com tiktok.com pinterest.com snapchat.com
threads.net whatsapp.com wa.me t.me vk.com line.me linktr.ee lnk.bio msha.ke bit.ly
yelp.com tripadvisor.com foursquare.com google.com goo.gl g.page apple.com yellowpages.com bing.com booking.com
opentable.com grubhub.com doordash.com ubereats.com airbnb.com mapquest.com waze.com
wixsite.com weebly.com wordpress.com blogspot.com squarespace.com godaddysites.com business.site jimdo.com jimdosite.com
webs.com tumblr.com medium.com etsy.com ebay.com amazon.com shopify.com myshopify.com blogger.com site123.me
massagebook.com booksy.com vagaro.com styleseat.com fresha.com zillow.com realtor.com healthgrades.com zocdoc.com
psychologytoday.com`

const ordinalWords = `i ii iii iv v vi vii viii ix north south east west northeast northwest southeast southwest norte sur nord sud
accounting accounts payroll purchasing procurement reception warehouse marketing leasing legal hr resources support recruitment treasury sales dispatch
buchhaltung einkauf lager vertrieb verkauf personalabteilung comptabilite achats contabilidad compras ventas contabilita acquisti`

const unitWords = `ste suite apt unit rm room fl floor bldg building lvl level spc space shop office dept box po pobox
piso puerta planta etage stock of oficina local apto sala loja bte interno`

const cutWords = `between btw btwn betw at near off opp opposite behind beside inside corner`

const numberWords = `no nr num numero numer n nro`

const directionWords = `n s e w ne nw se sw martin luther jr`

const roadWords = `hwy rte us sr cr fm i interstate state county km calle cl carrera cra jl`

const typeWords = `
st ave blvd rd dr ln ct pl sq ter cir pkwy hwy way aly plz trl row xing expy fwy tpke path loop cres mews walk pike byp rte
rue allee impasse quai chemin route cours place
calle cl paseo plaza carrer carrera ctra camino ronda travesia
via viale corso piazza vicolo largo strada
rua travessa praca alameda estrada rodovia
str platz weg allee gasse ring damm
ulica ul jalan jl`

const spellingsOfStreets = `
st street str strt strasse
ave avenue aven avn av blvd boulevard blv boul bvd
rd road
dr drive drv
ln lane
ct court crt
pl place
sq square
ter terrace terr
cir circle circ
pkwy parkway pky pkway
hwy highway hiway hway
aly alley
plz plaza
trl trail
xing crossing
expy expressway
fwy freeway
tpke turnpike
cres crescent
rte route
ctra carretera
ste suite
apt apartment
fl floor
bldg building
rm room
n north
s south
e east
w west
ne northeast
nw northwest
se southeast
sw southwest
mt mount
ft fort
saint snt
1st first
2nd second
3rd third
4th fourth
5th fifth
6th sixth
7th seventh
8th eighth
9th ninth
10th tenth
11th eleventh
12th twelfth
13th thirteenth
14th fourteenth
15th fifteenth
16th sixteenth
17th seventeenth
18th eighteenth
19th nineteenth
20th twentieth
king mlk
`

const businessWords = `
academy account accounting agency air american animal apartments appliance architects art arts asian associates association attorney attorneys auto
automotive bagel bagels bakery bank bar barber barbershop bbq beauty beer bistro body books bookstore boutique brewery brewing bridal
building burger burgers business cafe cantina car care carpet casino catering cell center centre chapel chicken child childcare children
childrens chinese chiropractic church cinema city cleaners cleaning clinic closet club coffee college commercial community computer
construction consulting contractors cosmetic counseling country court cream creamery credit creperie cuisine customs dance day daycare deli
delicatessen delivery dental dentist dentistry department depot design designs development diner dining discount doctor dog donut
donuts door early education electric electrical electronics elementary energy engineering enterprises entertainment equipment
express eye eyecare family farm farms fashion financial fine fire first fitness florist flower flowers food foods foundation fresh
fried frozen fuel funeral furniture gallery game games garage garden gardens gas general gift gifts glass global golf gourmet grill
grille grocery group guest guesthouse gun gym hair hall handyman hardware head health healthcare heating high holiday home homes
hospital hostel hotel house ice indian industrial industries inn institute insurance interior international investment irish italian
japanese jewelers jewelry juice karate kids kindergarten kitchen korean lab laboratory landscaping laundromat laundry law lawn learning
liquor liquors loan loans locksmith lodge lounge luxury machine management market marketing martial massage mattress meat media medical
medicine memorial men mexican mini ministries mobile mortgage motel motor motors moving museum music nail nails national natural new
noodle nursery office optical organic outlet packaging paint painting parish park parking partners party pasta pastry pediatric
pediatrics pet pets pharmacy phone photo photography physical physicians pizza pizzeria place plumbing pool pre preschool primary
print printing pro produce products professional properties property public pub real realty recovery recycling rehab rental
rentals repair repairs residence resort restaurant restaurants ristorante room salon school schools seafood security self senior
service services shoe shoes shop shoppe shopping signs smoke smoothie society solutions spa specialty sports station steak
steakhouse storage store stores studio studios super supermarket supply supplies surgery sushi systems taco tacos tailor tan
tanning taqueria tavern tax taxi tea team technologies technology telecom temple thai theater theatre therapy tile tire tires tobacco
tours toys trading trailer training transport transportation travel tree truck trucking university urgent used vape
veterinary vet video village vision wash waste water web wedding wellness wholesale window windows wine wings wireless women wood
works world yoga youth zone zoo supercenter branch campus headquarters atm hotels ramen apotheke backerei friseur gasthaus praxis schule kirche boulangerie pharmacie coiffure ecole
mairie farmacia panaderia peluqueria restaurante ristorante trattoria osteria iglesia escuela parrucchiere igreja padaria
escola klinik klinika sklep apteka szkola`

const familiarWords = `
joe joes john johns james david michael robert william mary maria jose juan luis carlos anna tony tonys mike mikes bob bobs
sam sams tom toms jim jims bill bills dan dave frank george henry jack kim lee martin paul peter ray rose sarah smith
johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson thomas taylor moore
jackson white harris clark lewis robinson walker young allen king wright scott hill green baker adams nelson mitchell campbell
main oak pine maple cedar elm washington lincoln jefferson franklin lake river valley park hills ridge creek spring springs
bay beach ocean sea island mountain grove forest meadow sunset sunrise sun star golden gold silver royal crown eagle lion tiger
dragon phoenix lotus bamboo panda north south east west northern southern eastern western central downtown uptown midtown
old new big little great grand best quality premier elite plus max classic modern urban metro capital united
blue red black white green yellow orange pink purple diamond pearl jade ruby
street avenue road boulevard plaza mall bridge square corner
san santa saint st los las angeles francisco diego jose antonio york chicago boston dallas houston austin miami atlanta seattle
denver phoenix portland philadelphia london paris berlin madrid rome tokyo california texas florida america usa uk canada
one two three four five ten 24`

// chainNames are full names that many places share, folded.
const chainNames = `7 eleven,aldi,aldi sud,allianz,anytime fitness,apple store,arbys,at and t,autozone,avis,axis bank,axis bank atm,bank of america
bank of america atm,bbva,best buy,best western,bitcoin atm,boots,bp,budget,burger king,carrefour,carrefour express,chase,chase bank,chevron,chipotle
chipotle mexican grill,circle k,citibank,coinstar,correios,costa coffee,costco,cvs,cvs pharmacy,dairy queen,days inn,deutsche bank,deutsche post,dhl
dm,dollar general,dollar tree,dominos,dominos pizza,dunkin,dunkin donuts,edeka,enterprise rent a car,esso,exxon,exxonmobil,family dollar
family mart,fedex,fedex office,gamestop,great clips,greggs,h and m,h and r block,hampton inn,hdfc bank,hdfc bank atm,hertz,hilton,holiday inn
holiday inn express,home depot,hsbc,ibis,icici bank,icici bank atm,ikea,jackson hewitt,jiffy lube,kfc,kroger,la poste,la quinta inn
lawson,lidl,little caesars,little caesars pizza,lloyds bank,lowes,marriott,mcdonalds,mobil,moneygram,motel 6,netto,nike,old navy
oreilly auto parts,orange,oxxo,panera bread,papa johns,papa johns pizza,penny,petco,petsmart,pizza hut,planet fitness,pnc bank,post office
poste italiane,publix,redbox,rewe,rite aid,rossmann,safeway,sainsburys,santander,sbi atm,sephora,shell,sonic drive in,sparkasse,spar,starbucks
starbucks coffee,state bank of india,state farm,subway,super 8,supercuts,t mobile,taco bell,target,td bank,tesco,tesco express,texaco,the home depot
the ups store,total,trader joes,u haul,us bank,us post office,united states postal service,verizon,vodafone,walgreens,walmart
walmart pharmacy,walmart supercenter,wells fargo,wells fargo atm,wells fargo bank,wendys,western union,whole foods market,zara`
