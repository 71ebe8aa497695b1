// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"regexp"
	"strings"
)

// asked returns what a column is called whose name is a question or a request, as the answers to a form have it: "What
// is your full name?" asks for a full name. It returns other names as they are.
func asked(name string) string {
	name = strings.TrimSpace(name)
	first, _, several := strings.Cut(name, " ")
	if !several || !strings.ContainsAny(name, "?？") && !requests[strings.ToLower(first)] {
		return name
	}
	question := strings.ToLower(remark.ReplaceAllString(name, ""))
	words := strings.FieldsFunc(question, func(r rune) bool { return strings.ContainsRune(" \u00a0?？!¿:*.,", r) })
	var left []string
	for _, word := range words {
		if !fillers[word] && !requests[word] {
			left = append(left, word)
		}
	}
	if len(left) == 0 || len(left) > 3 || keyRank(strings.Join(left, "")) > 0 { // your reference is that of another
		return name
	}
	return strings.Join(left, " ")
}

// remark is a remark in brackets at the end of a question.
var remark = regexp.MustCompile(`\s*\([^)]*\)\s*[*?]*$`)

var (
	// requests begin what is no question.
	requests = nameSet(`your please enter provide bitte ihr ihre dein deine votre veuillez`)
	// fillers are words of a question that do not say what is asked for.
	fillers = nameSet(`what what's whats which is are the a an do does you live in at of can we reach us me with on for
		wie was ist sind lautet lauten welche welcher welches in wohnen sie du angeben geben eingeben ein an die der das den
		quel quelle est sont le la les de vous dans habitez-vous cual cuál es son el los en tu su vives vive usted qual è wat is het je jouw uw`)
)
