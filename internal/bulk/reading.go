// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// describe sets the plain names of columns.
func describe(columns []sampled, kinds []*match.Schema) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	for i, plain := range plainNames(names, kinds) {
		columns[i].plain = plain
	}
}

// plainNames returns the plain names of the columns of a file: of each the first reading that means something, or else
// the last one. Without an owner that most columns end with a reading means more than with it.
func plainNames(names []string, kinds []*match.Schema) []string {
	head, tail := shared(names)
	plain := make([]string, len(names))
	for i, name := range names {
		all := readings(name, head, tail)
		plain[i] = all[len(all)-1]
		best := noAlias
		for _, reading := range all {
			if is := headerAlias(reading, kinds); is != noAlias && (best == noAlias || tail != "" && is <= namedAlias && best > namedAlias) {
				plain[i], best = reading, is
			}
		}
		if short := inNoLanguage(name); best == noAlias && short != "" && isTranslated(short, kinds) {
			plain[i] = short
		}
	}
	return plain
}

// bracketed is a remark in brackets: State (text only).
var bracketed = regexp.MustCompile(`\s*\([^()]*\)\s*`)

// readings returns what a name may mean as a plain name: all of it; without remarks in brackets; the first of several
// alternatives, such as the town of Town/City; and without the words that it shares with most columns.
func readings(name, head, tail string) []string {
	bare := name
	if short := strings.TrimSpace(bracketed.ReplaceAllString(name, " ")); plainName(short) != "" {
		bare = short
	}
	own := func(name string) string {
		plain := strings.TrimSuffix(plainName(name), "_of_address")
		if head != "" {
			plain = strings.TrimPrefix(plain, head+"_")
		}
		if tail != "" {
			plain = strings.TrimSuffix(plain, "_"+tail)
		}
		return plain
	}
	all := []string{plainName(name), plainName(bare)}
	if first, _, several := strings.Cut(bare, "/"); several {
		all = append(all, plainName(first), own(first))
	}
	return append(all, own(bare))
}

// fewShared is how many columns at least share the words that readings leaves out.
const fewShared = 4

// shared returns the words that most columns begin with, and those that most end with, "" for none: the columns of a
// table of people may be called "Person - ID" and "Person - Name".
func shared(names []string) (head, tail string) {
	all := make([][]string, len(names))
	for i, name := range names {
		all[i] = strings.Split(plainName(bracketed.ReplaceAllString(name, " ")), "_")
	}
	head = sharedHead(all)
	for _, words := range all {
		slices.Reverse(words)
	}
	words := strings.Split(sharedHead(all), "_")
	slices.Reverse(words)
	return head, strings.Join(words, "_")
}

// sharedHead returns the words that most names begin with, each before another word.
func sharedHead(names [][]string) string {
	var common []string
	for {
		counts, most := map[string]int{}, ""
		for _, words := range names {
			if n := len(common); len(words) > n+1 && slices.Equal(words[:n], common) {
				if counts[words[n]]++; counts[words[n]] > counts[most] {
					most = words[n]
				}
			}
		}
		if counts[most] < fewShared || 5*counts[most] < 3*len(names) {
			return strings.Join(common, "_")
		}
		common = append(common, most)
	}
}
