// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

var tableRule = regexp.MustCompile(`^\|[ :|-]+\|$`)

// A blank line ends a table: the rows below it are shown as text.
func TestMarkup_TablesAreWhole(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		code := false
		for i, line := range p.lines {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if code || !strings.HasPrefix(line, "|") || i > 0 && strings.HasPrefix(p.lines[i-1], "|") {
				continue
			}
			if i+1 == len(p.lines) || !tableRule.MatchString(p.lines[i+1]) {
				t.Errorf("%s:%d: this row belongs to no table: take the blank line above it out, or give it a header", p.path, i+1)
			}
		}
	}
}

// bareQuery is a word with a question mark outside of quotes: zsh takes it for a pattern of file names and
// refuses the command when no file matches.
var bareQuery = regexp.MustCompile(`(^|[\s=])[^\s'"#]*\w\?\w[^\s'"]*`)

func TestMarkup_CommandsRunInZshToo(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile(`'[^']*'|"[^"]*"`)
	for _, p := range pages(t) {
		for _, b := range p.blocks(t) {
			if b.info != "sh" && b.info != "console" {
				continue
			}
			for i, line := range strings.Split(b.text, "\n") {
				if m := bareQuery.FindString(quoted.ReplaceAllString(line, `""`)); m != "" {
					t.Errorf("%s:%d: zsh reads %q as a pattern of file names: quote it", p.path, b.line+1+i, strings.TrimSpace(m))
				}
			}
		}
	}
}
