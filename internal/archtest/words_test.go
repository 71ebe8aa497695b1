// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// words are not the field's English, with how many of each are left in the comments of Go files and in Markdown. A number
// only goes down: lower it when the test says that fewer are left. At zero the word is forbidden.
var words = map[string]int{
	`nobody`:         1,
	`somebody`:       0,
	`whoever`:        0,
	`everybody`:      0,
	`anybody`:        0,
	`anew`:           0,
	`meanwhile`:      0,
	`answers with`:   0,
	`tells? whether`: 0,
}

// Readers grep for the field's words: a function returns, a bool reports whether, and a caller, a process or a writer does
// something. docs/glossary.md has the terms.
func TestWords_AreTheFields(t *testing.T) {
	t.Parallel()
	text := strings.ToLower(prose(t))
	for word, left := range words {
		found := 0
		// An expression that begins with letters is searched for ten times as fast as one that begins with \b.
		for _, at := range regexp.MustCompile(word+`\b`).FindAllStringIndex(text, -1) {
			if !unicode.IsLetter(rune(text[max(at[0], 1)-1])) {
				found++
			}
		}
		switch {
		case found > left:
			t.Errorf("%q stands %d times in comments and documents, at most %d are left: say it in other words", word, found, left)
		case found < left:
			t.Errorf("%q stands %d times in comments and documents: lower the %d of this test", word, found, left)
		}
	}
}

// prose is what the comments of all Go files and all pages say. Blocks of code of a page are left out.
func prose(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	fenced := regexp.MustCompile("(?s)\n```.*?\n```")
	text(t, []string{".md"}, func(_ string, content []byte) {
		all.WriteString(fenced.ReplaceAllString(string(content), "") + "\n")
	})
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range files {
		if path.Base(s.path) == "words_test.go" {
			continue
		}
		for _, group := range s.file.Comments {
			all.WriteString(group.Text() + "\n")
		}
	}
	return all.String()
}
