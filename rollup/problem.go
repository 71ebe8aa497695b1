// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// InvalidError says everything that is wrong with a definition.
type InvalidError struct{ Problems []Problem }

// Problem is one thing that is wrong with a definition.
type Problem struct {
	// Line of the text, from 1; 0 if there is none.
	Line int `json:"line,omitempty"`
	// Field is the way to it, such as measures.weight.scale.
	Field string `json:"field"`
	Text  string `json:"text"`
}

// String is the problem in one line.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Field + ": " + p.Text
	}
	return fmt.Sprintf("line %d, %s: %s", p.Line, p.Field, p.Text)
}

// Error is all of it in one line.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return "rollup: the definition is not valid: " + strings.Join(lines, "; ")
}

// syntaxProblem is what the reader of YAML says; it names the line in its text.
func syntaxProblem(err error) Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if errors.Is(err, io.EOF) {
		text = "the text is empty"
	}
	problem := Problem{Field: "rollup", Text: text}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, what, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			problem.Line, problem.Text = line, what
		}
	}
	return problem
}
