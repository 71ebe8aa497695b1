// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// guessByValues gives an attribute without a column one whose name says nothing and whose values have a form that hardly
// anything else has: websites, mailboxes, telephone numbers, and whole addresses in a column called Location. The
// column with most values is taken.
func (r *recognition) guessByValues() {
	for i := range r.kind.Attributes {
		a := &r.kind.Attributes[i]
		if r.has(a) {
			continue
		}
		best := -1
		for j, c := range r.columns {
			if uses, _ := r.mapping.resolve(c.name); len(uses) > 0 || slices.Contains(r.o.Ignore, c.name) || !c.speaks(a) {
				continue
			}
			if best < 0 || len(c.values) > len(r.columns[best].values) {
				best = j
			}
		}
		if best >= 0 {
			name := r.columns[best].name
			r.mapping.guess[name], r.reasons[name] = a.Name, "its values, and no other column has them"
		}
	}
}

// has reports whether a column with values has an attribute.
func (r *recognition) has(a *match.Attribute) bool {
	return r.mapping.isSet(a.Name) || slices.ContainsFunc(r.columns, func(c sampled) bool {
		uses, _ := r.mapping.resolve(c.name)
		return len(c.values) > 0 && slices.ContainsFunc(uses, func(u use) bool { return u.attribute == a.Name })
	})
}

var (
	webForm   = regexp.MustCompile(`^(https?://|www\.)\S+$`)
	imageForm = regexp.MustCompile(`(?i)\.(jpe?g|png|gif|webp|svg)(\?\S*)?$`)
	// A number that is written to be called: +49 228 123456, (415) 555-0101. Others, such as 0228/123456, may be codes.
	calledForm = regexp.MustCompile(`^(\+|\(\d)[\d ()/.-]{6,}\d$`)
	plainPhone = regexp.MustCompile(`^\d[\d /.-]{6,}\d$`)
)

var (
	// notOwn are words in names of columns with addresses of something else than the row, beside ofOthers.
	notOwn = nameSet(`by from to cc bcc reply sender assigned rep referrer supervisor boss approver editor source sources quelle quellen
		reference references ref news article image images img logo photo photos picture thumbnail icon video map maps menu ticket booking license licence fax telefax faks`)
	contactNames  = nameSet("contact contacts contactinfo contactdetails kontakt kontaktdaten contacto contato contatto whatsapp wa hotline")
	locationNames = nameSet("location location1 locations ubicacion standort localisation localizacion localizacao posizione")
)

// speaks reports whether the values of a column can only be those of an attribute.
func (c *sampled) speaks(a *match.Attribute) bool {
	if len(c.values) < 2 || slices.ContainsFunc(strings.Split(c.plain, "_"), func(w string) bool { return notOwn[w] || ofOthers[w] }) {
		return false
	}
	all := func(form *regexp.Regexp) bool {
		return !slices.ContainsFunc(c.values, func(v string) bool { return !form.MatchString(strings.TrimSpace(v)) })
	}
	switch a.Type {
	case match.TypeURL:
		return all(webForm) && !mostly(imageForm, c.values) && differ(c.values, hostOf)
	case match.TypeEmail:
		return all(emailForm) && differ(c.values, strings.ToLower)
	case match.TypePhone:
		return (all(calledForm) || contactNames[joined(c.plain)] && all(plainPhone)) && fits(a, c.values) && differ(c.values, strings.TrimSpace)
	case match.TypeAddress:
		return locationNames[joined(c.plain)] && mostly(numberedStreet, c.values)
	}
	return false
}

// hostOf returns the host of a web address, without www.
func hostOf(address string) string {
	if !strings.Contains(address, "://") {
		address = "//" + address
	}
	of, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(of.Host), "www.")
}

// differ reports whether most values differ in what is taken of them.
func differ(values []string, of func(string) string) bool {
	different := map[string]bool{}
	for _, v := range values {
		different[of(v)] = true
	}
	return 3*len(different) > 2*len(values)
}
