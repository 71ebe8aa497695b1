// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

const (
	// arrow separates before and after.
	arrow = " -> "
	// nothing is printed for a missing before or after.
	nothing = "nothing"
	// timeMilli is RFC 3339 in UTC with milliseconds, the resolution of a log.
	timeMilli = "2006-01-02T15:04:05.000Z"
	// maxWhat is the maximum length of a text; --json prints it in full.
	maxWhat = 60
)

// imageText returns the attributes that differ between two images; all of them if one is missing.
func imageText(c *changelog.Change) string {
	was, is := said(c.Was), said(c.Is)
	names := slices.Collect(maps.Keys(was))
	for name := range is {
		if _, there := was[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	parts := make([]string, 0, len(names))
	for _, name := range names {
		switch shown := term.Escape(name) + ": "; {
		case was[name] == is[name]:
		case c.Was == nil:
			parts = append(parts, shown+is[name])
		case c.Is == nil:
			parts = append(parts, shown+was[name])
		default:
			parts = append(parts, shown+orNothing(was[name])+arrow+orNothing(is[name]))
		}
	}
	text := strings.Join(parts, "; ")
	switch {
	case c.Was == nil:
		return nothing + arrow + text
	case c.Kind == changelog.Retired && c.Into != (locality.ID{}):
		return text + arrow + "merged into " + c.Into.String()
	case c.Is == nil:
		return text + arrow + nothing
	case text == "":
		return "says the same"
	}
	return text
}

// said returns the values of an image by attribute, including sources and outcome.
func said(im *changelog.Image) map[string]string {
	text := map[string]string{}
	if im == nil {
		return text
	}
	for name, values := range im.Attributes {
		text[name] = clipped(values)
	}
	text["source"] = clipped(im.Sources)
	if im.Outcome != "" {
		text["outcome"] = im.Outcome
	}
	return text
}

func clipped(values []string) string {
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = term.Clip(v, maxWhat)
	}
	return strings.Join(shown, " | ")
}

// versionsText formats a record at a version.
func versionsText(of []changelog.Version) string {
	if len(of) == 0 {
		return nothing
	}
	return fmt.Sprintf("record %v version %d", of[0].PUID, of[0].Version)
}

func memberText(n int) string {
	if n == 0 {
		return nothing
	}
	return plural(n, "record")
}

// retiredText describes what the id of a retired entity now resolves to.
func retiredText(c *changelog.Change) string {
	if c.Into == (locality.ID{}) {
		return memberText(len(c.Before)) + arrow + nothing
	}
	return memberText(len(c.Before)) + arrow + "merged into " + c.Into.String()
}
