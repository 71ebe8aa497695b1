// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Given are the permissions that a configuration grants to principals of other systems: the members of groups at an
// identity provider, the subject of a JWT, the name in a certificate. The limits are the same as for tokens.
type Given struct {
	Roles       []string
	Sources     Sources
	Restriction Restriction
	// Shares are set if several groups give something, and not the same for everything.
	Shares []Share
}

// JoinGroups returns the roles and limits of several groups as one list for ParseGiven. Without limits it is a list of
// roles.
func JoinGroups(groups [][]string) []string {
	limited := slices.ContainsFunc(groups, func(items []string) bool { return slices.ContainsFunc(items, isLimit) })
	var list []string
	for _, items := range groups {
		if limited && len(groups) > 1 {
			list = append(list, strings.Join(items, ","))
		} else {
			list = append(list, items...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// GivesRole reports whether a list for ParseGiven has a role, besides limits.
func GivesRole(items []string) bool {
	return slices.ContainsFunc(items, func(item string) bool {
		return slices.ContainsFunc(strings.Split(item, ","), func(one string) bool { return !isLimit(one) })
	})
}

func isLimit(item string) bool { return strings.Contains(item, ":") }

// ParseGiven reads roles, and limits that begin with "kind:", "hide:" or "source:". An item with commas is a group, and
// if there is one, every item is a group. The roles of a group apply to its kinds and sources, and to those of all
// groups if it has none. An attribute that any group hides is hidden.
func ParseGiven(items []string) (g Given, err error) {
	groups := [][]string{items}
	if slices.ContainsFunc(items, func(item string) bool { return strings.Contains(item, ",") }) {
		groups = groups[:0]
		for _, item := range items {
			groups = append(groups, strings.Split(item, ","))
		}
	}
	parts := make([]Given, 0, len(groups))
	for _, items := range groups {
		part, err := parseGroup(items)
		if err != nil {
			return Given{}, err
		}
		parts = append(parts, part)
		g.Roles = add(g.Roles, part.Roles)
		g.Sources = add(g.Sources, part.Sources)
		g.Restriction.Kinds = add(g.Restriction.Kinds, part.Restriction.Kinds)
		g.Restriction.Hide = add(g.Restriction.Hide, part.Restriction.Hide)
	}
	if err = errors.Join(g.Sources.Check(), g.Restriction.Check()); err != nil {
		return Given{}, err
	}
	if len(parts) > 1 && (g.Sources != nil || g.Restriction.Kinds != nil) {
		g.Shares = g.shares(parts)
	}
	return g, nil
}

// shares returns the permissions of each group.
func (g *Given) shares(parts []Given) (shares []Share) {
	for _, part := range parts {
		set, _ := Grant(part.Roles, nil) // parseGroup has checked them
		if set == 0 {
			continue
		}
		s := Share{Permissions: set, Kinds: part.Restriction.Kinds, Sources: part.Sources}
		if s.Kinds == nil {
			s.Kinds = g.Restriction.Kinds
		}
		if s.Sources == nil {
			s.Sources = g.Sources
		}
		shares = append(shares, s)
	}
	return shares
}

func parseGroup(items []string) (g Given, err error) {
	for _, item := range items {
		limit, name, found := strings.Cut(item, ":")
		list := map[string]*[]string{"kind": &g.Restriction.Kinds, "hide": &g.Restriction.Hide,
			"source": (*[]string)(&g.Sources)}[limit]
		switch {
		case !found:
			list, name = &g.Roles, item
		case list == nil:
			return Given{}, fmt.Errorf("%.80q is not a limit: want kind:NAME, hide:ATTRIBUTE or source:NAME", item)
		}
		*list = add(*list, []string{name})
	}
	if _, err = Grant(g.Roles, nil); err == nil {
		err = errors.Join(g.Sources.Check(), g.Restriction.Check())
	}
	if err != nil {
		return Given{}, err
	}
	return g, nil
}

// add appends the items that a list lacks.
func add(list, more []string) []string {
	for _, name := range more {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Principal returns a principal with these permissions.
func (g *Given) Principal() *Principal {
	set, _ := Grant(g.Roles, nil) // ParseGiven has checked them
	return &Principal{Permissions: set, Sources: g.Sources, Restriction: g.Restriction, Shares: g.Shares}
}
