// SPDX-License-Identifier: Apache-2.0

package access

import "slices"

// Share is a part of the permissions of a principal: some permissions, for the things of some kinds and the records of
// some sources.
type Share struct {
	Permissions Set
	Kinds       []string // nil for all
	Sources     Sources
}

// For returns the principal with the permissions that count for a route with this rule, nil if the rule does not admit
// it. A principal that has its permissions for some kinds or sources only sees those kinds there, and writes those
// sources.
func (p *Principal) For(rule Rule) *Principal {
	if p = p.Whole(); p == nil || !rule.Admits(p.Permissions) {
		return nil
	}
	if p.Shares == nil || rule.open {
		return p
	}
	left := *p
	left.whole, left.Shares = p, slices.DeleteFunc(slices.Clone(p.Shares), func(s Share) bool {
		return s.Permissions&rule.set == 0
	})
	left.Permissions = Everything()
	for _, s := range left.Shares {
		left.Permissions &= s.Permissions
	}
	left.Restriction.Kinds, left.Sources = kindsOf(left.Shares), sourcesOf(left.Shares)
	if !rule.any { // for each permission there must be a kind, and for all of them the same
		for _, permission := range all {
			if rule.Takes(permission) {
				of := kindsOf(slices.DeleteFunc(slices.Clone(p.Shares), func(s Share) bool {
					return !s.Permissions.Has(Of(permission))
				}))
				left.Restriction.Kinds = common(left.Restriction.Kinds, of)
			}
		}
	}
	if left.Restriction.Kinds != nil && len(left.Restriction.Kinds) == 0 {
		return nil
	}
	return &left
}

// Whole returns the principal that For was called with.
func (p *Principal) Whole() *Principal {
	if p != nil && p.whole != nil {
		return p.whole
	}
	return p
}

// Writes reports whether the principal may write records of a source, of some kind.
func (p *Principal) Writes(source string) bool { return p != nil && p.Sources.Has(source) }

// WritesKind reports whether the principal may write records of a source and a kind.
func (p *Principal) WritesKind(source, kind string) bool {
	if p == nil || !p.Sources.Has(source) || !p.Restriction.Sees(kind) {
		return false
	}
	return p.Shares == nil || slices.ContainsFunc(p.Shares, func(s Share) bool {
		return s.Sources.Has(source) && (s.Kinds == nil || slices.Contains(s.Kinds, kind))
	})
}

func kindsOf(shares []Share) []string {
	kinds := []string{}
	for _, s := range shares {
		if s.Kinds == nil {
			return nil
		}
		kinds = append(kinds, s.Kinds...)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func sourcesOf(shares []Share) Sources {
	sources := Sources{}
	for _, s := range shares {
		if s.Sources == nil {
			return nil
		}
		sources = append(sources, s.Sources...)
	}
	slices.Sort(sources)
	return slices.Compact(sources)
}

// common returns what is in both lists, nil for everything.
func common(a, b []string) []string {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}
