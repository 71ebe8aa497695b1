// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links inside the repository lead to files, and to headings that are there.
func TestLinks_LeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	headings := make(map[string]map[string]bool, len(all))
	for _, p := range all {
		headings[p.path] = p.headings()
	}
	for _, p := range all {
		for i, line := range p.lines {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target, anchor, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				file := p.path
				if target != "" {
					file = path.Join(path.Dir(p.path), target)
				}
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
					t.Errorf("%s:%d: %s leads nowhere", p.path, i+1, m[1])
				} else if anchor != "" && !headings[file][anchor] {
					t.Errorf("%s:%d: %s: no such heading", p.path, i+1, m[1])
				}
			}
		}
	}
}

// headings are the anchors that a page offers, spelt as the web spells them.
func (p page) headings() map[string]bool {
	anchors := map[string]bool{}
	for _, line := range p.lines {
		text := strings.TrimLeft(line, "#")
		if text == line || !strings.HasPrefix(text, " ") {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(text)) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		anchors[b.String()] = true
	}
	return anchors
}

// Every page can be reached from README.md by following links.
func TestPages_CanBeReached(t *testing.T) {
	t.Parallel()
	byPath := map[string]page{}
	for _, p := range pages(t) {
		byPath[p.path] = p
	}
	reached := map[string]bool{"README.md": true}
	for queue := []string{"README.md"}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, m := range link.FindAllStringSubmatch(byPath[from].text(), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			to := path.Join(path.Dir(from), target)
			if _, ok := byPath[to]; ok && !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	for name := range byPath {
		if !reached[name] {
			t.Errorf("%s: no link from README.md leads here", name)
		}
	}
}

func TestReadme_FitsOnePage(t *testing.T) {
	t.Parallel()
	if n := len(pageAt(t, "README.md").lines); n > 200 {
		t.Errorf("README.md has %d lines, at most 200 are wanted", n)
	}
}

var (
	decisionTitle = regexp.MustCompile(`(?m)\A# (\d+)\. (.+)$`)
	decisionRow   = regexp.MustCompile(`(?m)^\| \[(\d+)\]\((\S+)\) \| (.+) \|$`)
)

// The table of decisions has a row for each, by number, under the title that the decision has.
func TestDecisions_AreListed(t *testing.T) {
	t.Parallel()
	var want, have []string
	for _, p := range pages(t) {
		if m := decisionTitle.FindStringSubmatch(p.text()); m != nil && path.Dir(p.path) == "docs/adr" {
			want = append(want, fmt.Sprintf("%4s %s %s", m[1], path.Base(p.path), m[2]))
		}
		if p.path == "docs/adr/README.md" {
			for _, m := range decisionRow.FindAllStringSubmatch(p.text(), -1) {
				have = append(have, fmt.Sprintf("%4s %s %s", m[1], m[2], m[3]))
			}
		}
	}
	if len(want) == 0 {
		t.Fatal("no decisions found")
	}
	if slices.Sort(want); !slices.Equal(have, want) {
		t.Errorf("docs/adr/README.md lists\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}
