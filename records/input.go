// SPDX-License-Identifier: Apache-2.0

package records

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/identifier"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
)

// Input is a record to write: a source's data about a thing, under the source's own key.
type Input struct {
	entity.Ref
	// Kind is the name of one of the installation's kinds; "" is the default kind.
	Kind string
	// Observed is when the source observed this; the zero time means now. A record older than the one stored under its
	// key does not replace it.
	Observed time.Time
	// Later means that the record takes the place of one that was observed at the same time. Otherwise the greater
	// content does, so that the order of arrival does not matter.
	Later bool
	// Unless, if not nil, refuses the record with entity.ErrRefused if it reports true of the one that is stored under
	// its key. It is called in the transaction that would replace it, maybe several times, and must be fast.
	Unless     func(stored *entity.Record) bool
	Attributes entity.Attributes
}

// Limits of a record, in bytes of UTF-8, the same in every interface and backend. match.Schema.Check defines the limits
// of attributes.
const (
	MaxSource = 64        // [a-z0-9][a-z0-9_.-]*
	MaxKey    = 255       // an external key
	MaxRecord = 64 * 1024 // names and values of one record together
	MaxBatch  = 1000      // records per request of HTTP, and puids of ByPUID; Put takes any number
)

// maxAhead is how far in the future an observation may be, to allow for clock differences.
const maxAhead = 5 * time.Minute

// Check returns all reasons to reject a record of a kind at a time, nil if there are none. Put rejects records by the
// same check, so a client can run it before it sends anything.
func Check(schema *match.Schema, now time.Time, p Input) []problem.Problem {
	problems := CheckRef(p.Ref)
	if !p.Observed.IsZero() {
		switch {
		case p.Observed.Before(time.Unix(0, 0)):
			problems = append(problems, problem.New("/observed_at", "invalid", "observed_at is before 1970"))
		case p.Observed.After(now.Add(maxAhead)):
			problems = append(problems, problem.New("/observed_at", "in_future", "observed_at is in the future"))
		}
	}
	attributes, size := Sent(p.Attributes), 0
	for name, values := range attributes {
		size += len(name)
		for _, v := range values {
			size += len(v)
		}
	}
	if size > MaxRecord {
		return append(problems, problem.New("/attributes", "too_large",
			fmt.Sprintf("the record has %d bytes, more than %d", size, MaxRecord)))
	}
	for _, a := range schema.Check(match.Attributes(attributes)) {
		a.Pointer = "/attributes" + a.Pointer
		problems = append(problems, a)
	}
	return problems
}

// Sent returns attributes without the values that count as not sent, which are empty or consist of white space. It does
// not change its argument.
func Sent(attributes entity.Attributes) entity.Attributes {
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

// CheckRef returns the problems of an external key, nil if it is valid.
func CheckRef(ref entity.Ref) []problem.Problem {
	var problems []problem.Problem
	if !isSource(ref.Source) {
		problems = append(problems, problem.New("/source", "invalid",
			"a source has 1 to 64 characters of a-z, 0-9, _, . and -, and begins with a letter or digit"))
	}
	if why := identifier.Problem(ref.Key, MaxKey); why != "" {
		problems = append(problems, problem.New("/key", identifierCode(ref.Key), "the key "+why))
	}
	return problems
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

// ParseRef parses SOURCE:KEY at the first colon. The error is a *locus.InvalidError.
func ParseRef(address string) (entity.Ref, error) {
	source, key, found := strings.Cut(address, ":")
	if !found {
		return entity.Ref{}, problem.Invalid("/address", "invalid", "an address is an entity id, a puid, or SOURCE:KEY")
	}
	ref := entity.Ref{Source: source, Key: key}
	if problems := CheckRef(ref); len(problems) > 0 {
		return entity.Ref{}, &problem.InvalidError{Problems: problems}
	}
	return ref, nil
}
