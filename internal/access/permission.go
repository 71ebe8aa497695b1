// SPDX-License-Identifier: Apache-2.0

package access

import (
	"fmt"
	"slices"
	"strings"
)

// Permission opens a group of routes.
type Permission string

// Permissions.
const (
	Schema  Permission = "schema"  // kinds, term frequencies, version, the OpenAPI document
	Read    Permission = "read"    // everything that is derived from records
	Write   Permission = "write"   // put and delete records
	Count   Permission = "count"   // add hits
	Decide  Permission = "decide"  // decisions, merges, unmerges, pins
	Define  Permission = "define"  // rollups, kinds, streams of sources, sinks
	Erase   Permission = "erase"   // erase records, vacuum
	Operate Permission = "operate" // cells, checks, dumps
	Metrics Permission = "metrics" // metrics of the process
	Audit   Permission = "audit"   // the audit log
	Access  Permission = "access"  // tokens
	ActFor  Permission = "act_for" // name an author other than oneself
)

// all are the permissions, in the order of their bits.
var all = [...]Permission{Schema, Read, Write, Count, Decide, Define, Erase, Operate, Metrics, Audit, Access, ActFor}

// Permissions returns the names of all permissions.
func Permissions() []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = string(p)
	}
	return names
}

// Set is a set of permissions. The zero value is empty.
type Set uint16

// Of returns the set of some permissions. It panics for a permission that does not exist.
func Of(permissions ...Permission) (s Set) {
	for _, p := range permissions {
		i := slices.Index(all[:], p)
		if i < 0 {
			panic("access: no permission " + string(p))
		}
		s |= 1 << i
	}
	return s
}

// Everything returns the set of all permissions.
func Everything() Set { return 1<<len(all) - 1 }

// Has reports whether s contains all of another set.
func (s Set) Has(other Set) bool { return s&other == other }

// Names returns the permissions of a set, in a fixed order.
func (s Set) Names() []string {
	names := []string{}
	for i, p := range all {
		if s&(1<<i) != 0 {
			names = append(names, string(p))
		}
	}
	return names
}

// roles are fixed, so that they can be tested exhaustively.
var roles = map[string]Set{
	"reader":        Of(Schema, Read),
	"writer":        Of(Schema, Write, Count),
	"reviewer":      Of(Schema, Read, Decide),
	"operator":      Of(Schema, Operate, Metrics),
	"administrator": Everything(),
}

// Roles returns the names of the roles, the narrowest first.
func Roles() []string { return []string{"reader", "writer", "reviewer", "operator", "administrator"} }

// Grant returns the permissions of roles and of single permissions together.
func Grant(of, allow []string) (s Set, err error) {
	for _, name := range of {
		role, found := roles[name]
		if !found {
			return 0, fmt.Errorf("there is no role %.40q: the roles are %s", name, strings.Join(Roles(), ", "))
		}
		s |= role
	}
	for _, name := range allow {
		i := slices.Index(all[:], Permission(name))
		if i < 0 {
			return 0, fmt.Errorf("there is no permission %.40q: the permissions are %s", name, strings.Join(Permissions(), ", "))
		}
		s |= 1 << i
	}
	return s, nil
}
