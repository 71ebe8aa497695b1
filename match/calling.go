// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// callingCodes maps two-letter country codes to calling codes.
var callingCodes = func() map[string]string {
	m := map[string]string{}
	for entry := range strings.FieldsSeq(callingTable) {
		m[entry[:2]] = entry[2:]
	}
	return m
}()

// Countries whose numbers have a national prefix or a distinctive length. North American numbers are
// detected by their form.
const callingTable = `
ae971 ar54 at43 au61 bd880 be32 bg359 br55 ch41 cl56 cn86 co57 cr506 cz420 de49 dk45 dz213 ec593 ee372 eg20 es34 fi358 fr33 gb44 gr30
gt502 hk852 hr385 hu36 id62 ie353 il972 in91 is354 it39 jo962 jp81 ke254 kr82 kw965 lb961 lk94 lt370 lu352 lv371 ma212 mt356 mx52 my60
ng234 nl31 no47 np977 nz64 pa507 pe51 ph63 pk92 pl48 pt351 py595 qa974 ro40 rs381 ru7 sa966 se46 sg65 si386 sk421 th66 tn216 tr90 tw886
ua380 uk44 uy598 ve58 vn84 za27`

// trunkKept is the country where the leading 0 is part of the number.
const trunkKept = "it"

// international returns the international form of a national number, if the country is known and the number
// is long enough.
func international(national, country string) string {
	code, ok := callingCodes[country]
	if !ok || strings.HasPrefix(national, "+") || len(national) < 8 {
		return national
	}
	number := national
	if country != trunkKept {
		number = strings.TrimPrefix(number, "0")
	}
	if strings.HasPrefix(national, code) && len(national) > 10 {
		return "+" + national // only the plus was missing
	}
	return "+" + code + number
}
