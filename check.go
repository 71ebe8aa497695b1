// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/identifier"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// Limits of what is accepted, in bytes of UTF-8. They hold on every surface and backend; those of
// attributes are match.Schema.Check's.
const (
	MaxSource = 64        // [a-z0-9][a-z0-9_.-]*
	MaxKey    = 255       // an external key
	MaxRecord = 64 * 1024 // names and values of one record together
	MaxQuery  = 256       // the text of a search
	MaxLimit  = 1000      // items of a page
	MaxBatch  = 1000      // records of one request
)

// maxAhead is how far an observation may lie in the future: clocks differ.
const maxAhead = 5 * time.Minute

// Check answers with everything that keeps a record of a kind from being accepted at a moment, nil
// if nothing does. It is what Service.Put refuses by, so it can be asked before anything is sent.
func Check(schema *match.Schema, now time.Time, p Put) []Problem {
	problems := checkRef(p.Ref)
	if !p.Observed.IsZero() {
		switch {
		case p.Observed.Before(time.Unix(0, 0)):
			problems = append(problems, Problem{"/observed_at", "invalid", "the time of an observation lies before 1970"})
		case p.Observed.After(now.Add(maxAhead)):
			problems = append(problems, Problem{"/observed_at", "in_future", "the time of an observation lies in the future"})
		}
	}
	attributes, size := sent(p.Attributes), 0
	for name, values := range attributes {
		size += len(name)
		for _, v := range values {
			size += len(v)
		}
	}
	if size > MaxRecord {
		return append(problems, Problem{"/attributes", "too_large", fmt.Sprintf("the record has %d bytes, more than %d", size, MaxRecord)})
	}
	for _, a := range schema.Check(match.Attributes(attributes)) {
		pointer := "/attributes"
		if a.Attribute != "" {
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(a.Attribute)
		}
		if a.Index >= 0 && len(attributes[a.Attribute]) > 1 {
			pointer += "/" + strconv.Itoa(a.Index)
		}
		problems = append(problems, Problem{pointer, a.Code, a.Message})
	}
	return problems
}

// sent drops what counts as not sent: values that are empty or only white space.
func sent(attributes entity.Attributes) entity.Attributes {
	blank := false
	for _, values := range attributes {
		blank = blank || len(values) == 0
		for _, v := range values {
			blank = blank || strings.TrimSpace(v) == ""
		}
	}
	if !blank && attributes != nil {
		return attributes
	}
	kept := entity.Attributes{}
	for name, values := range attributes {
		for _, v := range values {
			if strings.TrimSpace(v) != "" {
				kept[name] = append(kept[name], v)
			}
		}
	}
	return kept
}

func checkRef(ref entity.Ref) []Problem {
	var problems []Problem
	if !isSource(ref.Source) {
		problems = append(problems, Problem{
			"/source", "invalid",
			"a source has 1 to 64 characters of a-z, 0-9, _, . and -, and begins with a letter or digit",
		})
	}
	if why := identifier.Problem(ref.Key, MaxKey); why != "" {
		problems = append(problems, Problem{"/key", identifierCode(ref.Key), "the key " + why})
	}
	return problems
}

// checkID refuses an id that Locus has never given to anything: it is another system's.
func checkID(pointer string, id locality.ID) error {
	if id.Version() == 0xb {
		return nil
	}
	return &InvalidError{[]Problem{{pointer, "invalid", fmt.Sprintf("%v is not an entity id: its version is %x, not b", id, id.Version())}}}
}

func isSource(s string) bool {
	if len(s) == 0 || len(s) > MaxSource {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case (c == '_' || c == '.' || c == '-') && i > 0:
		default:
			return false
		}
	}
	return true
}

func identifierCode(s string) string {
	if !utf8.ValidString(s) {
		return "invalid_utf8"
	}
	return "invalid"
}

func checkLimit(limit int) (int, error) {
	if limit == 0 {
		return 100, nil
	}
	if limit < 0 || limit > MaxLimit {
		return 0, &InvalidError{[]Problem{{"/limit", "invalid", fmt.Sprintf("a page has 1 to %d items", MaxLimit)}}}
	}
	return limit, nil
}

// checkText checks a text to search for.
func checkText(pointer, s string) error {
	code, message := "invalid", ""
	switch {
	case len(s) > MaxQuery:
		message = fmt.Sprintf("the text has %d bytes, more than %d", len(s), MaxQuery)
	case !utf8.ValidString(s):
		code, message = "invalid_utf8", "the text is not valid UTF-8"
	case strings.ContainsFunc(s, unicode.IsControl):
		message = "the text holds a control character"
	default:
		return nil
	}
	return &InvalidError{[]Problem{{pointer, code, message}}}
}
