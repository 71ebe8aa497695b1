// SPDX-License-Identifier: Apache-2.0

package console

import "slices"

// section is an entry of the navigation and the pages that belong to it, the one it links to first.
type section struct {
	Path, Text string
	Pages      []string
	Whole      bool // about the whole installation
}

// mainPages are the sections in the header, footPages those in the footer.
var (
	mainPages = []section{
		{"/", "Home", []string{"home"}, true},
		{"/entities", "Entities", []string{"search", "entity", "whatif"}, false},
		{"/review", "Review", []string{"review"}, false},
		{"/data", "Data", []string{"data", "import"}, true},
		{"/rollups", "Rollups", []string{"rollups", "rollup"}, true},
		{"/counters", "Counters", []string{"counters", "metric"}, true},
		{"/streams", "Streams", []string{"streams"}, true},
		{"/operations", "Operations", []string{"operations", "ring"}, true},
	}
	footPages = []section{{"/kinds", "Kinds", []string{"kinds"}, true}}
)

// navLink is a link of the navigation. Current is the value of aria-current: "page" on the page itself, "true" on
// another page of its section, "" elsewhere.
type navLink struct{ Path, Text, Current string }

// navigation returns the links to the sections that the viewer may use.
func (c *Console) navigation(sections []section, page string) []navLink {
	links := make([]navLink, 0, len(sections))
	for _, s := range sections {
		if s.Whole && c.viewer.Narrow {
			continue
		}
		link := navLink{Path: s.Path, Text: s.Text}
		switch slices.Index(s.Pages, page) {
		case -1:
		case 0:
			link.Current = "page"
		default:
			link.Current = "true"
		}
		links = append(links, link)
	}
	return links
}
