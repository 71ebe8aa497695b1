// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// legalForm is the legal form in the name of a company.
type legalForm struct {
	text string // in the shortest spelling: gmbh
	of   formOf
}

// formOf classifies the legal forms of several countries. Forms of one class are often confused: GmbH, Ltd, ООО.
type formOf uint8

const (
	formLoose       formOf = iota // little information: Inc, Co, and forms that mean different things in two countries
	formPrivate                   // companies owned by a few: GmbH, Ltd, S.r.l.
	formPublic                    // with shares that are traded: AG, PLC, S.A.
	formPartnership               // KG, LLP
	formMembers                   // of members: e.V., cooperatives, foundations
	formOne                       // of one owner: e.K.
)

// cutForm cuts the legal form off the words of a folded name in Latin letters: at the end, where there may be several,
// at the beginning in languages that write it there, or before a city if the word means nothing else. A name that
// consists only of a form is kept.
func cutForm(words []string) (rest []string, form legalForm) {
	for {
		n, found := formAtEnd(words)
		if n == 0 || n == len(words) {
			break
		}
		words = words[:len(words)-n]
		if form.text == "" || form.of == formLoose {
			form = found
		}
	}
	if form.text != "" || len(words) < 2 {
		return words, form
	}
	if found, ok := formsBefore[words[0]]; ok {
		return words[1:], found
	}
	for i := 1; i < len(words)-1; i++ {
		for n := min(formWords, len(words)-i); n > 0; n-- {
			if !formEnds[words[i+n-1]] {
				continue
			}
			if found, ok := forms[strings.Join(words[i:i+n], " ")]; ok && clearForms[found.text] {
				return slices.Concat(words[:i], words[i+n:]), found
			}
		}
	}
	return words, form
}

// formAtEnd returns how many of the last words are a legal form.
func formAtEnd(words []string) (n int, form legalForm) {
	for n := min(formWords, len(words)); n > 1; n-- {
		if words[len(words)-1] != "" && !formEnds[words[len(words)-1]] {
			return 0, form
		}
		if form, ok := forms[strings.Join(words[len(words)-n:], " ")]; ok {
			return n, form
		}
	}
	if len(words) > 0 {
		if form, ok := forms[words[len(words)-1]]; ok {
			return 1, form
		}
	}
	return 0, form
}

// cutForms is cutForm of a folded text.
func cutForms(folded string) (rest string, form legalForm) {
	if !ascii(folded) {
		return cutForeignForm(folded)
	}
	if !mayHaveForm(folded) {
		return folded, form
	}
	words := strings.Split(folded, " ")
	if left, form := cutForm(words); form.text != "" {
		return strings.Join(left, " "), form
	}
	return folded, form
}

// cutForeignForm is cutForm in other scripts. In Chinese, Japanese and Korean the form has no space around it, or is a
// sign in brackets, as in (株) and ㈜.
func cutForeignForm(folded string) (rest string, form legalForm) {
	for _, f := range eastern {
		if before, after, ok := strings.Cut(folded, f.text); ok {
			if rest = strings.Join(strings.Fields(before+" "+after), " "); rest != "" {
				return rest, f
			}
		}
	}
	words := strings.Fields(folded)
	if len(words) < 2 {
		return folded, form
	}
	last := len(words) - 1
	if f, ok := formSigns[words[0]]; ok {
		words, form = words[1:], f
	} else if f, ok := formSigns[words[last]]; ok {
		words, form = words[:last], f
	}
	for _, f := range arabicForms {
		if rest, ok := strings.CutSuffix(strings.Join(words, " "), " "+f.text); ok {
			return rest, f
		}
	}
	if form.text == "" {
		return folded, form
	}
	return strings.Join(words, " "), form
}

// mayHaveForm reports whether a word may be the end of a legal form. For most names it is false, and nothing more is
// checked.
func mayHaveForm(folded string) bool {
	for w := range strings.SplitSeq(folded, " ") {
		if _, before := formsBefore[w]; before || formEnds[w] {
			return true
		}
	}
	return false
}

// formsDiffer reports whether two names have legal forms that one company cannot have both.
func formsDiffer(a, b legalForm) bool { return a.of != b.of && a.of != formLoose && b.of != formLoose }

// formWords is the number of words of the longest spelling of a form.
const formWords = 6

// forms maps the spellings of each form to it; formEnds has their last words. A line of formSpellings is a class, a
// form, and other spellings.
var forms, formEnds = func() (map[string]legalForm, map[string]bool) {
	m, ends := map[string]legalForm{}, map[string]bool{}
	of := formLoose
	for line := range strings.Lines(formSpellings) {
		line = strings.TrimSpace(line)
		if line == "-" {
			of++
			continue
		}
		spellings := strings.Split(line, ", ")
		for _, s := range spellings {
			m[s] = legalForm{spellings[0], of}
			ends[s[strings.LastIndexByte(s, ' ')+1:]] = true
		}
	}
	return m, ends
}()

// formSpellings lists the forms of a class up to "-", in the order of formOf. Words that more often mean something else
// are left out, such as spa, a bath. Cyrillic and Greek forms are romanised.
const formSpellings = `inc, incorporated
co, company, and co, and company
corp, corporation
sas, societe par actions simplifiee
ab, aktiebolag
as
a s, aktieselskab
sc
-
gmbh, mbh, gesellschaft mit beschrankter haftung, gesellschaft m b h, gesmbh, ges m b h, ggmbh
ug, unternehmergesellschaft, ug haftungsbeschrankt
ltd, limited, private limited, private ltd, pvt ltd, pte ltd, pty ltd, pty limited, co ltd, company limited, proprietary limited, ltd co
llc, limited liability company
sarl, societe a responsabilite limitee
srl, societa a responsabilita limitata, sociedad de responsabilidad limitada
sl, slu, sociedad limitada, sociedad limitada unipersonal
bv, besloten vennootschap, besloten vennootschap met beperkte aansprakelijkheid
oy, osakeyhtio
aps, anpartsselskab
ou, osauhing
uab
sia
spzoo, sp zoo, sp z oo, sp z o o, spolka z oo, spolka z ograniczona odpowiedzialnoscia
sro, s r o, spol s r o, spolecnost s rucenim omezenym
doo, d o o
kft, korlatolt felelossegu tarsasag
eood, ood
lda, ltda, limitada
sdn bhd, sendirian berhad
as igs, ltd sti, limited sirketi
ooo, o o o, obshchestvo s ogranichennoy otvetstvennostyu, tov
epe, e p e
ike, i k e
-
ag, aktiengesellschaft
plc, public limited company
sa, societe anonyme, sociedad anonima, sociedade anonima, spolka akcyjna
s p a, societa per azioni
nv, naamloze vennootschap
asa, allmennaksjeselskap
oyj
kgaa
ad
zrt, nyrt
bhd, berhad
pao, oao, zao, pat, publichnoe aktsionernoe obshchestvo, otkrytoe aktsionernoe obshchestvo, zakrytoe aktsionernoe obshchestvo
ae, a e, anonymi etairia
-
kg, kommanditgesellschaft
gmbh and co kg, gmbh co kg, gmbh and cokg, gmbh and co
ohg, offene handelsgesellschaft
gbr, gesellschaft burgerlichen rechts
llp, limited liability partnership
lp, limited partnership
snc, societe en nom collectif, societa in nome collettivo
vof, vennootschap onder firma
-
ev, e v, eingetragener verein
eg, eingetragene genossenschaft
stiftung
asbl, vzw
scrl
-
ek, e k, eingetragener kaufmann
eirl
`

// formsBefore are the forms that stand before a name.
var formsBefore = func() map[string]legalForm {
	m := map[string]legalForm{"pt": {"pt", formPrivate}, "ip": {"ip", formOne}}
	for w := range strings.FieldsSeq("ooo pao oao zao tov pat") {
		m[w] = forms[w]
	}
	return m
}()

// clearForms are the forms whose spellings mean nothing else, wherever they occur.
var clearForms = wordSet(`gmbh ltd llc inc sarl srl spzoo plc`)

// eastern are the forms of scripts without spaces, folded, longest first.
var eastern = foldForms(
	legalForm{"股份有限公司", formPublic}, legalForm{"有限责任公司", formPrivate}, legalForm{"有限公司", formPrivate}, legalForm{"株式会社", formLoose},
	legalForm{"有限会社", formPrivate}, legalForm{"合同会社", formPrivate}, legalForm{"주식회사", formLoose}, legalForm{"유한회사", formPrivate})

// arabicForms are the forms at the end of an Arabic name, folded.
var arabicForms = foldForms(legalForm{"ذ م م", formPrivate}, legalForm{"ش م م", formPublic}, legalForm{"ش م ل", formPublic}, legalForm{"ش م ع", formPublic})

// formSigns are the words for a form at the beginning or the end of a name in other scripts, folded.
var formSigns = func() map[string]legalForm {
	m := map[string]legalForm{}
	for _, f := range foldForms(legalForm{"株", formLoose}, legalForm{"有", formPrivate}, legalForm{"주", formLoose}, legalForm{"유", formPrivate},
		legalForm{"شركة", formLoose}, legalForm{"مؤسسة", formLoose}) {
		m[f.text] = f
	}
	return m
}()

func foldForms(list ...legalForm) []legalForm {
	for i := range list {
		list[i].text = fold(list[i].text)
	}
	return list
}
