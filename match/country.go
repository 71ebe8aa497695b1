// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// countryOf returns the two-letter code of a country that is written as a code or a name, "" if it is not known.
func countryOf(folded string) string {
	if folded == "" {
		return ""
	}
	roman, _ := romanise(folded)
	return countries[strings.ReplaceAll(roman, " ", "_")]
}

// countries are the codes of countries by their codes and their names in several languages, folded, with "_" for
// spaces.
var countries = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(countryTable) {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
}()

const countryTable = `ad and andorra
ae are united_arab_emirates uae emirates vereinigte_arabische_emirate
ar arg argentina argentinien argentine
at aut austria osterreich oesterreich autriche oostenrijk
au aus australia australien australie
be bel belgium belgien belgique belgie belgica belgio
bg bgr bulgaria bulgarien bulgarie bulgarije
br bra brazil brasil brasilien bresil brasile brazilie
ca can canada kanada
ch che switzerland schweiz suisse svizzera suiza zwitserland suica
cl chl chile chili cile
cn chn china chine cina prc peoples_republic_of_china
co col colombia kolumbien colombie
cy cyp cyprus zypern chypre chipre cipro
cz cze czechia czech_republic tschechien tschechische_republik cesko ceska_republika republique_tcheque tsjechie
de deu germany deutschland allemagne alemania germania duitsland alemanha brd
dk dnk denmark danmark danemark dinamarca danimarca denemarken
ee est estonia estland estonie eesti
eg egy egypt agypten egypte egipto egitto
es esp spain espana spanien espagne spagna spanje espanha
fi fin finland finnland finlande finlandia suomi
fr fra france frankreich francia frankrijk franca
gb gbr uk united_kingdom great_britain britain england scotland wales northern_ireland grossbritannien vereinigtes_konigreich royaume_uni reino_unido regno_unito verenigd_koninkrijk
gr grc greece griechenland grece grecia griekenland hellas ellada
hk hkg hong_kong hongkong
hr hrv croatia kroatien croatie hrvatska croacia croazia
hu hun hungary ungarn hongrie hungria ungheria magyarorszag hongarije
id idn indonesia indonesien indonesie
ie irl ireland irland irlande irlanda ierland eire republic_of_ireland
il isr israel
in ind india indien inde
is isl iceland island islande islandia
it ita italy italia italien italie
jp jpn japan japon giappone nippon
kr kor south_korea korea republic_of_korea sudkorea coree_du_sud
li lie liechtenstein
lt ltu lithuania litauen lituanie lietuva
lu lux luxembourg luxemburg luxemburgo lussemburgo
lv lva latvia lettland lettonie latvija
ma mar morocco marokko maroc marruecos marocco
mc mco monaco
mt mlt malta malte
mx mex mexico mexiko mexique messico
my mys malaysia
nl nld netherlands the_netherlands holland niederlande pays_bas paises_bajos paesi_bassi nederland
no nor norway norwegen norvege noruega norvegia noorwegen norge
nz nzl new_zealand neuseeland nouvelle_zelande
pe per peru perou
ph phl philippines philippinen
pk pak pakistan
pl pol poland polen pologne polonia polska
pt prt portugal portogallo
ro rou romania rumanien roumanie rumania roemenie
rs srb serbia serbien serbie srbija
ru rus russia russland russie rusia russian_federation rossiya rossija rusland
sa sau saudi_arabia saudi_arabien
se swe sweden schweden suede suecia svezia zweden sverige
sg sgp singapore singapur singapour
si svn slovenia slowenien slovenie slovenija
sk svk slovakia slowakei slovaquie slovensko eslovaquia
th tha thailand
tn tun tunisia tunesien tunisie
tr tur turkey turkei turquie turkiye turquia turchia turkije
tw twn taiwan
ua ukr ukraine ucrania ucraina ukraina oekraine
us usa united_states united_states_of_america america u_s u_s_a vereinigte_staaten etats_unis estados_unidos stati_uniti verenigde_staten
uy ury uruguay
ve ven venezuela
vn vnm vietnam viet_nam
za zaf south_africa sudafrika afrique_du_sud`
