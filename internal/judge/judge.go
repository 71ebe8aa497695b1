// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/entity"
)

// Question is a pair of records of a kind.
type Question struct {
	// ID is the number of the question. A program repeats it in its answer.
	ID   int               `json:"id"`
	Kind string            `json:"kind"`
	A    entity.Attributes `json:"a"`
	B    entity.Attributes `json:"b"`
}

// Verdict is the answer of a judge about a pair.
type Verdict string

// The verdicts.
const (
	Same      Verdict = "same"
	Different Verdict = "different"
	Unsure    Verdict = "unsure"
)

// Answer is the answer to a question.
type Answer struct {
	ID      int     `json:"id"`
	Verdict Verdict `json:"answer"`
	Reason  string  `json:"reason"`
}

// Judge answers questions. The error of Ask is ErrAnswer if the judge can be asked on.
type Judge interface {
	Ask(ctx context.Context, q Question) (Answer, error)
	Close() error
}

// ErrAnswer means that an answer cannot be understood.
var ErrAnswer = errors.New("judge: invalid answer")

const (
	// maxAnswer is the size of an answer, in bytes.
	maxAnswer = 64 << 10
	// maxReason is the size of a reason, in bytes; the rest is left out.
	maxReason = 500
)

// parse reads one JSON object with an answer, and nothing after it.
func parse(text []byte) (a Answer, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return a, fmt.Errorf("%w: want {\"answer\": \"same\", \"reason\": \"…\"}: %w", ErrAnswer, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return a, fmt.Errorf("%w: there is text after the object", ErrAnswer)
	}
	switch a.Verdict {
	case Same, Different, Unsure:
	default:
		return a, fmt.Errorf("%w: %.40q is not same, different or unsure", ErrAnswer, string(a.Verdict))
	}
	a.Reason = readable(a.Reason)
	return a, nil
}

// readable returns a text without control characters, cut to maxReason.
func readable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if len(text) <= maxReason {
		return text
	}
	cut := maxReason
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
