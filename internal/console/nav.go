// SPDX-License-Identifier: Apache-2.0

package console

import "slices"

// section is an entry of the navigation and the pages that belong to it, the one it links to first.
type section struct {
	Path, Text string
	Pages      []string
	Of         scope
}

// scope says which viewers a section is for.
type scope uint8

const (
	ofViewer       scope = iota // the numbers that the viewer may see
	ofKinds                     // about all kinds
	ofInstallation              // about the whole installation
)

// open reports whether a viewer may use the section.
func (s section) open(v Viewer) bool {
	return s.Of == ofViewer || s.Of == ofKinds && !v.SomeKinds || !v.Narrow
}

// mainPages are the sections in the header, footPages those in the footer.
var (
	mainPages = []section{
		{"/", "Home", []string{"home"}, ofInstallation},
		{"/entities", "Entities", []string{"search", "entity", "whatif"}, ofViewer},
		{"/review", "Review", []string{"review", "bulk", "team"}, ofViewer},
		{"/data", "Data", []string{"data", "import"}, ofKinds},
		{"/quality", "Quality", []string{"quality"}, ofViewer},
		{"/rollups", "Rollups", []string{"rollups", "rollup", "define"}, ofViewer},
		{"/counters", "Counters", []string{"counters", "metric", "chart"}, ofKinds},
		{"/streams", "Streams", []string{"streams"}, ofViewer},
		{"/operations", "Operations", []string{"operations", "ring"}, ofKinds},
	}
	footPages = []section{{"/kinds", "Kinds", []string{"kinds", "try", "draft"}, ofViewer}}
)

// navLink is a link of the navigation. Current is the value of aria-current: "page" on the page itself, "true" on
// another page of its section, "" elsewhere.
type navLink struct{ Path, Text, Current string }

// navigation returns the links to the sections that the viewer may use.
func (c *Console) navigation(sections []section, page string) []navLink {
	links := make([]navLink, 0, len(sections))
	for _, s := range sections {
		if !s.open(c.viewer) {
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
