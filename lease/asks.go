// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"strconv"
	"strings"
)

// maxAsks bounds Asks, in bytes: an owner that is gone leaves many lines. On overflow all lines are replaced by one
// that asks for everything.
const maxAsks = 4000

// ask adds a request; "" asks for everything.
func (l *Lease) ask(what string) {
	l.Asked++
	if len(l.Asks)+len(what) > maxAsks {
		l.Asks, what = "", ""
	}
	l.Asks += strconv.FormatInt(l.Asked, 10) + " " + what + "\n"
}

func (l *Lease) finish(number int64) {
	l.Done = max(l.Done, number)
	var left strings.Builder
	for line := range strings.Lines(l.Asks) {
		if n, _ := l.parse(line); n > l.Done {
			left.WriteString(line)
		}
	}
	l.Asks = left.String()
}

// Open returns the pending requests in the order of asking; all reports whether everything is requested.
func (l Lease) Open() (asks []string, all bool) {
	for line := range strings.Lines(l.Asks) {
		switch n, what := l.parse(line); {
		case n <= l.Done:
		case what == "":
			all = true
		default:
			asks = append(asks, what)
		}
	}
	return asks, all
}

// parse parses a line. A malformed one counts as the last, and asks for everything.
func (l Lease) parse(line string) (number int64, what string) {
	text, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return l.Asked, ""
	}
	return number, what
}
