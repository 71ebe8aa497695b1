// SPDX-License-Identifier: Apache-2.0

package access

import "strings"

// Rule says which permissions a route takes. The zero value admits no caller; see Valid.
type Rule struct {
	set  Set
	any  bool
	open bool
	// bySource means that the route writes records of the sources of its principal only.
	bySource bool
	// narrowed means that the route shows nothing that the restriction of its principal hides, masked the same of
	// attributes only.
	narrowed, masked bool
}

// All returns the rule that a caller needs all of some permissions.
func All(permissions ...Permission) Rule { return Rule{set: Of(permissions...)} }

// Any returns the rule that one of some permissions suffices.
func Any(permissions ...Permission) Rule { return Rule{set: Of(permissions...), any: true} }

// Anyone returns the rule that any permission suffices: a route for every principal.
func Anyone() Rule { return Rule{set: Everything(), any: true} }

// Public returns the rule of a route that takes no credential.
func Public() Rule { return Rule{open: true} }

// BySource returns the rule for a route that writes records of the sources of its principal only. A principal with
// limited sources is refused by other routes that might write.
func (r Rule) BySource() Rule {
	r.bySource = true
	return r
}

// Narrowed returns the rule for a route that shows nothing that the restriction of its principal hides. A principal
// with a restriction is refused by all others.
func (r Rule) Narrowed() Rule {
	r.narrowed = true
	return r
}

// Masked returns the rule for a route that shows no value of a hidden attribute, but cannot leave out things of other
// kinds.
func (r Rule) Masked() Rule {
	r.masked = true
	return r
}

// AdmitsNarrowed reports whether a principal with a restriction may use the route.
func (r Rule) AdmitsNarrowed(of *Restriction) bool {
	return r.open || r.narrowed || r.masked && of.Kinds == nil
}

// readsOnly are permissions that neither write records nor grant others.
var readsOnly = Of(Schema, Read, Count, Decide, Metrics, Audit)

// AdmitsLimited reports whether a caller with these permissions, who may write some sources only, may use the route.
func (r Rule) AdmitsLimited(s Set) bool {
	return r.open || r.bySource || r.any && r.set&s&readsOnly != 0 || r.set != 0 && readsOnly.Has(r.set)
}

// LimitsSources reports whether the route writes records of the sources of its principal only.
func (r Rule) LimitsSources() bool { return r.bySource }

// Valid reports whether the rule was made by All, Any or Public.
func (r Rule) Valid() bool { return r.open || r.set != 0 }

// Open reports whether the route takes no credential.
func (r Rule) Open() bool { return r.open }

// Takes reports whether the rule names a permission.
func (r Rule) Takes(p Permission) bool { return r.set.Has(Of(p)) }

// Admits reports whether a caller with these permissions may use the route.
func (r Rule) Admits(s Set) bool {
	switch {
	case r.open:
		return true
	case r.any:
		return s&r.set != 0
	default:
		return r.set != 0 && s.Has(r.set)
	}
}

// String returns the permissions: "public", "any permission", "read", "read and operate" or "read or operate".
func (r Rule) String() string {
	switch {
	case r.open:
		return "public"
	case r.any && r.set == Everything():
		return "any permission"
	case r.any:
		return strings.Join(r.set.Names(), " or ")
	default:
		return strings.Join(r.set.Names(), " and ")
	}
}
