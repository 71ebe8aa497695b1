// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxSources limits the names of Sources.
const MaxSources = 100

// Sources are the sources whose records a principal may write: a name, or the beginning of names and a *. Nil means
// all.
type Sources []string

// Check returns an error for a list that is empty but not nil, which would be stored like nil, and unless every source
// is a name of at most 64 bytes, with a * at its end at most.
func (s Sources) Check() error {
	if s != nil && len(s) == 0 {
		return errors.New("the list is empty: name a source, or leave it out for all")
	}
	if len(s) > MaxSources {
		return fmt.Errorf("%d sources: at most %d", len(s), MaxSources)
	}
	for _, name := range s {
		if name == "" || len(name) > 64 || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			return fmt.Errorf("%.80q is not the name of a source, or its beginning and a *", name)
		}
	}
	return nil
}

// Has reports whether the records of a source may be written.
func (s Sources) Has(source string) bool {
	return s == nil || slices.ContainsFunc(s, func(name string) bool {
		begin, open := strings.CutSuffix(name, "*")
		return name == source || open && strings.HasPrefix(source, begin)
	})
}

// Cover reports whether everything that others allow is allowed too.
func (s Sources) Cover(others Sources) bool {
	if s == nil || others == nil {
		return s == nil
	}
	return !slices.ContainsFunc(others, func(name string) bool {
		begin := strings.TrimSuffix(name, "*")
		return !slices.ContainsFunc(s, func(own string) bool {
			ownBegin, open := strings.CutSuffix(own, "*")
			return own == name || open && strings.HasPrefix(begin, ownBegin)
		})
	})
}
