// SPDX-License-Identifier: Apache-2.0

package console

import (
	"regexp"
	"time"
)

// stamp is a time on a page. Pages contain it in UTC, in a time element; the module rewrites it in the reader's zone.
type stamp time.Time

// Datetime returns the machine-readable form.
func (s stamp) Datetime() string { return time.Time(s).UTC().Format(time.RFC3339) }

// Clock returns the time of day in UTC.
func (s stamp) Clock() string { return clock(time.Time(s)) }

// Moment returns date and time in UTC.
func (s stamp) Moment() string { return moment(time.Time(s)) }

// Zero reports whether there is no time.
func (s stamp) Zero() bool { return time.Time(s).IsZero() }

// clock formats the time of day in UTC, to the second.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") }

// momentForm is how a time in UTC is written in a sentence.
const momentForm = "2006-01-02 15:04:05 UTC"

// moment formats a time in UTC, to the second.
func moment(t time.Time) string { return t.UTC().Format(momentForm) }

// phrase is a part of a sentence: a text, or a time.
type phrase struct {
	Text string
	At   stamp
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d UTC|T\d\d:\d\d:\d\d(?:\.\d+)?Z)`)

// timed divides a sentence at its times, so that a page can show them in the reader's zone.
func timed(sentence string) (parts []phrase) {
	from := 0
	for _, at := range moments.FindAllStringIndex(sentence, -1) {
		text := sentence[at[0]:at[1]]
		t, err := time.Parse(momentForm, text)
		if err != nil {
			t, err = time.Parse(time.RFC3339, text)
		}
		if err != nil {
			continue // no time, such as the 31st of February
		}
		parts = append(parts, phrase{Text: sentence[from:at[0]]}, phrase{At: stamp(t)})
		from = at[1]
	}
	return append(parts, phrase{Text: sentence[from:]})
}
