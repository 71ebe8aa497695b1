// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"strings"
)

// parts is a set of types of parts of places, one bit each.
type parts uint64

// partsOf maps words to the part of a place that they name, in names and in categories: "Valley Bank ATM"
// is a part of a bank, not of an ATM. ownParts are the types that are not always parts.
var partsOf, ownParts = func() (map[string]parts, parts) {
	m, own := map[string]parts{}, parts(0)
	kind := 0
	for i, list := range [...]string{partWords, ownWords} {
		for line := range strings.Lines(list) {
			words := strings.Fields(fold(line))
			if len(words) == 0 {
				continue
			}
			for _, w := range words {
				m[w] |= 1 << kind
			}
			if i == 1 {
				own |= 1 << kind
			}
			kind++
		}
	}
	return m, own
}()

// One type of part per line, in the languages of the address parser. Words that name a whole as often are
// left out: center, office, service, shop.
const partWords = `
atm atms bitcoin geldautomat geldautomaten bankomat bankamatik bancomat cajero cajeros cashpoint kontomat
mortgage mortgages loan loans lending lender hypothek hipoteca
wealth investment investments
money
pharmacy pharmacie pharmacies apotheke farmacia drugstore rx apteka apotek
vision optical optician optik optique optometry optometrist eye eyes eyewear eyecare glasses
photo photos photography foto
print printing copy
tire tires tyre tyres
collision body
parts accessories
fuel gas gasoline petrol tankstelle carburant gasolinera diesel truck
charging charger chargers ev recharge supercharger ladestation
wash
grooming groomer groomers
floral florist florists flower flowers blumen fleuriste floristeria
pickup pick delivery
vending locker lockers packstation
parking 駐車場 停车场 停車場 주차장 parkhaus parkplatz parcheggio estacionamiento estacionamento aparcamiento carpark
cardiology cardiologist cardiovascular heart
radiology radiologist imaging mri xray diagnostic
oncology oncologist cancer hematology
pediatrics pediatric pediatrician paediatric paediatrics
orthopedics orthopedic orthopaedic orthopaedics orthopedist
dermatology dermatologist
urology urologist
neurology neurologist neurosurgery neuroscience
gynecology gynecologist gyn obgyn obstetrics obstetrician
surgery surgical surgeon surgeons
ent ear nose throat otolaryngology audiology
gastroenterology gastroenterologist
endocrinology diabetes
rheumatology rheumatologist
nephrology dialysis
vascular pulmonary pulmonology
psychiatry psychiatric behavioral
rehabilitation rehab physiotherapy
emergency urgent er icu sicu
laboratory laboratories lab labs
maternity birth birthing
infusion
pool schwimmbad piscina piscine swimming
playground spielplatz
court courts field fields tennis basketball baseball soccer football
bus haltestelle バス停 バス停留所 停留所 公交站 정류장
department dept division annex
festival
`

// Types that are often a thing of their own: they count as a part only of a thing of a known other type.
const ownWords = `
auto automotive car garage lube tire tires tyre tyres
training trainer trainers school schools schule escuela ecole escola college university education
vet veterinary veterinarian vaccination vaccinations tierarzt
bakery backerei boulangerie panaderia padaria panificio restaurant restaurants ristorante restaurante cafe coffee caffe kaffee kafe bar pub bistro pizza pizzeria grill deli delicatessen drinking eat food kitchen
dining
liquor liquors wine
gym 体育館 gymnasium sporthalle turnhalle palestra gimnasio fitness
library 図書館 图书馆 bibliothek biblioteca bibliotheque
stadium stadion auditorium
church kirche iglesia igreja chapel kapelle parish cathedral
cemetery friedhof
daycare preschool kindergarten childcare
hotel hotels motel hostel lodging
museum museums
spa spas
`

func nameParts(folded []byte) (p parts) {
	for len(folded) > 0 {
		var word []byte
		word, folded, _ = bytes.Cut(folded, []byte{' '})
		p |= partsOf[string(word)]
	}
	return p
}
