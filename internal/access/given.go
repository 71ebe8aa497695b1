// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Given is what a configuration gives to those that another system names: the members of a group at an identity provider, the subject of
// a JWT, the name in a certificate. The limits are those of tokens.
type Given struct {
	Roles       []string
	Sources     Sources
	Restriction Restriction
}

// ParseGiven reads roles, and limits that begin with "kind:", "hide:" or "source:". Roles, kinds and sources add up. A limit holds for
// everything that is given.
func ParseGiven(items []string) (g Given, err error) {
	for _, item := range items {
		limit, name, found := strings.Cut(item, ":")
		list := map[string]*[]string{"kind": &g.Restriction.Kinds, "hide": &g.Restriction.Hide, "source": (*[]string)(&g.Sources)}[limit]
		switch {
		case !found:
			list, name = &g.Roles, item
		case list == nil:
			return Given{}, fmt.Errorf("%.80q is not a limit: want kind:NAME, hide:ATTRIBUTE or source:NAME", item)
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	if _, err = Grant(g.Roles, nil); err == nil {
		err = errors.Join(g.Sources.Check(), g.Restriction.Check())
	}
	if err != nil {
		return Given{}, err
	}
	return g, nil
}

// Principal returns a principal with what is given.
func (g *Given) Principal() *Principal {
	set, _ := Grant(g.Roles, nil) // ParseGiven has checked them
	return &Principal{Permissions: set, Sources: g.Sources, Restriction: g.Restriction}
}
