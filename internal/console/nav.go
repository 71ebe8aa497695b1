// SPDX-License-Identifier: Apache-2.0

package console

import "slices"

// section is an entry of the navigation and the pages that belong to it, the one it links to first.
type section struct {
	Path, Text string
	Pages      []string
}

// mainPages are the sections in the header, footPages those in the footer.
var (
	mainPages = []section{
		{"/", "Home", []string{"home"}},
		{"/entities", "Entities", []string{"search", "entity", "whatif"}},
		{"/review", "Review", []string{"review"}},
		{"/rollups", "Rollups", []string{"rollups", "rollup"}},
		{"/counters", "Counters", []string{"counters", "metric"}},
		{"/streams", "Streams", []string{"streams"}},
		{"/operations", "Operations", []string{"operations", "ring"}},
	}
	footPages = []section{{"/kinds", "Kinds", []string{"kinds"}}}
)

// navLink is a link of the navigation. Current is the value of aria-current: "page" on the page itself, "true" on
// another page of its section, "" elsewhere.
type navLink struct{ Path, Text, Current string }

func navigation(sections []section, page string) []navLink {
	links := make([]navLink, len(sections))
	for i, s := range sections {
		links[i] = navLink{Path: s.Path, Text: s.Text}
		switch slices.Index(s.Pages, page) {
		case -1:
		case 0:
			links[i].Current = "page"
		default:
			links[i].Current = "true"
		}
	}
	return links
}
