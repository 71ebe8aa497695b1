// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// words are expressions that the field does not use, with the number of occurrences left in the comments of Go files
// and in Markdown. The numbers only go down: lower one when the test reports that fewer are left. At zero the word is
// forbidden.
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

// Readers grep for the field's words: a function returns, a bool reports whether, and a caller, a process or a writer
// does something. docs/glossary.md has the terms.
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
			t.Errorf("%q stands %d times in comments and documents, at most %d are left: say it in other words", word,
				found, left)
		case found < left:
			t.Errorf("%q stands %d times in comments and documents: lower the %d of this test", word, found, left)
		}
	}
}

// prose returns the comments of all Go files and the text of all pages, without blocks of code.
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
