// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"slices"
	"strings"
)

// united maps the normal form of a value that lacks its beginning to that of the fuller value that it is, such as a
// phone number without a country code to the same number with one. Other normal forms are missing.
type united map[string]string

// of returns the normal form of the value that a normal form belongs to.
func (u united) of(normal string) string {
	if fuller, ok := u[normal]; ok {
		return fuller
	}
	return normal
}

// form is a normal form, and the end by which it is found in fuller ones: its Local, or the whole of it. Ends are
// reversed, so that fuller forms follow in order.
type form struct {
	normal, end string
	local       bool
	fuller      string // the value that it is
}

// unite returns which of the candidates, and of the value of a pin, are one. A value with a Local is the fuller one
// that ends in it. If several values do, it could be any of them and stays a value of its own.
func unite(candidates []candidate, chosen *Pin) united {
	lacking := chosen != nil && chosen.Local != ""
	if !lacking && !slices.ContainsFunc(candidates, func(c candidate) bool { return c.local != "" }) {
		return nil
	}
	forms := make([]form, 0, len(candidates)+1)
	for _, c := range candidates {
		forms = append(forms, newForm(c.normal, c.local))
	}
	if chosen != nil {
		forms = append(forms, newForm(chosen.Normal, chosen.Local))
	}
	slices.SortFunc(forms, func(a, b form) int {
		return cmp.Or(strings.Compare(a.end, b.end), cmp.Compare(len(a.normal), len(b.normal)),
			compareHashes(a.normal, b.normal))
	})
	same := united{}
	for i := len(forms) - 1; i >= 0; i-- {
		f := &forms[i]
		f.fuller = f.normal
		if fuller := onlyOne(forms[i+1:], f.end); f.local && fuller != "" && fuller != f.normal {
			f.fuller, same[f.normal] = fuller, fuller
		}
	}
	return same
}

func newForm(normal, local string) form {
	end := []byte(cmp.Or(local, normal))
	slices.Reverse(end)
	return form{normal: normal, end: string(end), local: local != ""}
}

// onlyOne returns the value of the forms with an end, "" if there is none or more than one.
func onlyOne(forms []form, end string) (value string) {
	for _, f := range forms {
		switch {
		case !strings.HasPrefix(f.end, end):
			return value
		case value != "" && value != f.fuller:
			return ""
		}
		value = f.fuller
	}
	return value
}
