// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	links   = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchors = regexp.MustCompile(` id="([^"]*)"`)
)

// The site of this repository: each link leads to a page, a heading or a file, nothing is loaded from elsewhere, and
// the index of the search has what is on the pages.
func TestBuild_OfTheRepository(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	n, err := build("../..", out)
	if err != nil || n < 80 {
		t.Fatalf("%d pages, %v", n, err)
	}
	read := func(name string) string {
		body, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			return ""
		}
		return string(body)
	}
	paths, err := pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, p := range paths {
		here := htmlOf(p)
		body := read(here)
		if loaded := regexp.MustCompile(`<(?:script|link|img)[^>]*(?:src|href)="https?:`).FindString(body); loaded != "" && p != "README.md" {
			t.Errorf("%s loads %s", here, loaded)
		}
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			name, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(name, ":") {
				continue
			}
			seen++
			to := path.Join(path.Dir(here), name)
			if name == "" {
				to = here
			}
			there := read(to)
			if there == "" {
				t.Errorf("%s: %s leads to nothing", here, m[1])
				continue
			}
			if anchor == "" {
				continue
			}
			found := false
			for _, a := range anchors.FindAllStringSubmatch(there, -1) {
				found = found || a[1] == anchor
			}
			if !found {
				t.Errorf("%s: %s has no such heading", here, m[1])
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d links were followed", seen)
	}
	var index []entry
	if err := json.Unmarshal([]byte(read("search.json")), &index); err != nil {
		t.Fatal(err)
	}
	for text, url := range map[string]string{
		"locus_backup_age_seconds": "docs/operations.html#locusbackupold",
		"full_page_writes":         "docs/postgresql.html#what-is-refused", "Jaeger": "docs/operations.html#traces",
	} {
		found := false
		for _, e := range index {
			found = found || e.URL == url && strings.Contains(e.Text, text)
		}
		if !found {
			t.Errorf("a search for %s does not find %s", text, url)
		}
	}
}
