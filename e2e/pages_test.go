// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"image/color"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pictures are the pictures of each page of the console in docs/images, by its route. Pages that report that there is
// nothing, and pages that ask for a name, have none.
var pictures = map[string][]string{
	"/{$}":                    {"console.png"},
	"/operations":             {"operations.png"},
	"/ring":                   {"ring.png", "ring-puids.png"},
	"/rollups":                {"rollups.png"},
	"/rollups/{name}":         {"rollup.png"},
	"/define":                 {"define.png"},
	"/counters":               {"metrics.png"},
	"/counters/metric":        {"counters.png"},
	"/counters/chart":         {"chart.png"},
	"/entities":               {"entities.png"},
	"/entities/{id}":          {"entity.png", "entity-how.png"},
	"/entities/{id}/what-if":  {"what-if.png"},
	"/review":                 {"review.png"},
	"/review/bulk":            {"review-bulk.png"},
	"/review/team":            {"review-team.png"},
	"/streams":                {"streams.png"},
	"/data":                   {"data.png"},
	"/quality":                {"quality.png"},
	"/kinds":                  {"kinds.png"},
	"/kinds/try":              {"kinds-try.png"},
	"/kinds/draft":            {"kinds-draft.png"},
	"/login":                  {"login.png"},
	"/login/cli":              {"login-cli.png"},
	"no page has the address": {"nothing.png"},
	"no name was given":       {"name.png"},
}

// routesOfPages returns the routes at which the console has pages, as they are registered.
func routesOfPages(t *testing.T) (routes []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "internal", "httpapi", "console_routes.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`p\.show\("(/[^"]*)"`).FindAllStringSubmatch(string(source), -1) {
		switch last := found[1][strings.LastIndex(found[1], "/")+1:]; last {
		case "csv", "picture", "provider": // no pages
		default:
			routes = append(routes, found[1])
		}
	}
	if len(routes) < 20 {
		t.Fatalf("the console has only the pages %q", routes)
	}
	return routes
}

// TestPages_HavePictures checks that each page of the console has its pictures, that the documents show them, and that
// all pictures are of pages. TestPictures takes the missing ones.
func TestPages_HavePictures(t *testing.T) {
	t.Parallel()
	images := filepath.Join("..", "docs", "images")
	var documents []string
	for _, glob := range []string{"README.md", "docs/*.md", "docs/concepts/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", glob))
		if err != nil || len(found) == 0 {
			t.Fatal(glob, found, err)
		}
		documents = append(documents, found...)
	}
	var text strings.Builder
	for _, name := range documents {
		document, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(document)
	}
	for _, route := range routesOfPages(t) {
		if len(pictures[route]) == 0 {
			t.Errorf("the page %s has no picture", route)
		}
	}
	var all []string
	for page, names := range pictures {
		all = append(all, names...)
		for _, name := range names {
			if !strings.Contains(text.String(), "images/"+name+")") {
				t.Errorf("no document shows %s, of %s", name, page)
			}
			file, err := os.Open(filepath.Join(images, name))
			if err != nil {
				t.Errorf("the picture of %s is missing: LOCUS_PICTURES=1 go test ./e2e -run TestPictures takes it: %v", page, err)
				continue
			}
			shown, err := png.DecodeConfig(file)
			_ = file.Close()
			if _, is := shown.ColorModel.(color.Palette); err != nil || !is || shown.Width < 700 || shown.Height < 250 {
				t.Errorf("%s is not a picture of a page with a palette: %d by %d, %v", name, shown.Width, shown.Height, err)
			}
		}
	}
	there, err := filepath.Glob(filepath.Join(images, "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if !slices.Contains(all, filepath.Base(name)) {
			t.Errorf("%s is a picture of no page", name)
		}
	}
}

// walked checks that pages have each route of the console except the routes for people who are not signed in.
func walked(t *testing.T, pages []string) {
	t.Helper()
	routes, mux := map[string]bool{}, http.NewServeMux()
	for _, route := range routesOfPages(t) {
		if !strings.HasPrefix(route, "/login") {
			routes["GET "+route] = true
			mux.HandleFunc("GET "+route, http.NotFound)
		}
	}
	for _, page := range pages {
		r, err := http.NewRequest(http.MethodGet, page, nil) //nolint:noctx // it is not sent
		if err != nil {
			t.Fatal(err)
		}
		_, route := mux.Handler(r)
		delete(routes, route)
	}
	for route := range routes {
		t.Errorf("%s is a page that is not looked at", route)
	}
}
