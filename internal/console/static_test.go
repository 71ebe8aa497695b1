// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/internal/console"
)

func TestStatic_HasWhatPagesReferTo(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, page := range renderings(t, "Joe's") {
		elements(render(t, page), func(n *html.Node) {
			for _, a := range []string{"href", "src"} {
				v, _ := attribute(n, a)
				file, ok := strings.CutPrefix(v, "/static/")
				if !ok {
					continue
				}
				seen++
				file, version, _ := strings.Cut(file, "?v=")
				f, ok := console.Static(file)
				if !ok || len(f.Body) == 0 || f.Type == "" || len(f.Version) != 16 || version != f.Version {
					t.Errorf("%s refers to %s: %v, type %q, version %s", name, v, ok, f.Type, f.Version)
				}
			}
		})
	}
	if seen == 0 {
		t.Error("no page refers to a file")
	}
}

func TestStatic_KnowsNoOtherName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "/", "../page.go", "..\\page.go", "console.css/", "CONSOLE.CSS", "static", "console.css\x00"} {
		if _, ok := console.Static(name); ok {
			t.Errorf("Static(%q) is there", name)
		}
	}
}

// elsewhere matches content that could make a browser contact another host, or execute data.
var elsewhere = regexp.MustCompile(`https?:|@import|url\([^#]|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function`)

func TestStatic_AsksNobodyElseAndRunsNoData(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"console.css", "console.js", "favicon.svg"} {
		f, ok := console.Static(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		body := strings.ReplaceAll(string(f.Body), `xmlns="http://www.w3.org/2000/svg"`, "")
		if found := elsewhere.FindString(body); found != "" {
			t.Errorf("%s holds %q", name, found)
		}
	}
}
