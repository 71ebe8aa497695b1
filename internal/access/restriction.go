// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// MaxRestricted limits the names of each list of a Restriction.
const MaxRestricted = 100

// Restriction narrows what a principal sees. The zero value hides nothing.
type Restriction struct {
	// Kinds are the kinds that the principal sees, nil for all; others do not exist for it.
	Kinds []string `json:"kinds,omitempty" doc:"Kinds that it may see; missing for all"`
	// Hide are the names of attributes whose values the principal does not see.
	Hide []string `json:"hide,omitempty" doc:"Attributes whose values it may not see"`
}

var restrictedName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Check returns an error for a list that is empty but not nil, because it would be stored like nil, and for an invalid
// name of a kind or an attribute.
func (r *Restriction) Check() error {
	for _, list := range [][]string{r.Kinds, r.Hide} {
		if list != nil && len(list) == 0 {
			return errors.New("a list of kinds or attributes is empty: name some, or leave it out")
		}
		if len(list) > MaxRestricted {
			return fmt.Errorf("%d names: at most %d", len(list), MaxRestricted)
		}
		for _, name := range list {
			if !restrictedName.MatchString(name) {
				return fmt.Errorf("%.80q is not the name of a kind or of an attribute", name)
			}
		}
	}
	return nil
}

// Narrow reports whether anything is hidden.
func (r *Restriction) Narrow() bool { return r.Kinds != nil || r.Hide != nil }

// Sees reports whether things of a kind exist for the principal.
func (r *Restriction) Sees(kind string) bool { return r.Kinds == nil || slices.Contains(r.Kinds, kind) }

// Hides reports whether the values of an attribute are hidden.
func (r *Restriction) Hides(attribute string) bool { return slices.Contains(r.Hide, attribute) }

// Covers reports whether the principal sees everything that another restriction leaves visible.
func (r *Restriction) Covers(other *Restriction) bool {
	if r.Kinds != nil && (other.Kinds == nil || slices.ContainsFunc(other.Kinds, func(kind string) bool { return !r.Sees(kind) })) {
		return false
	}
	return !slices.ContainsFunc(r.Hide, func(name string) bool { return !other.Hides(name) })
}
