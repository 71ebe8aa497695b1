// SPDX-License-Identifier: Apache-2.0

package document

import (
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
)

// The marks begin words that cannot occur in a text: control characters, which no text word contains.
const (
	termMark = "\u0080"
	rankMark = "\u0081"
)

// Marks returns a range that contains all marked words, in byte order: from first up to, but not including, last.
func Marks() (first, last string) { return termMark, "\u0083" }

// digits are the digits of base 32; no index folds their case.
const digits = "0123456789abcdefghijklmnopqrstuv"

// Every is a word that every entity has, for searches with only excluded terms.
const Every = "\u0082"

// AppendTerm appends a term to b as one word of a search index.
func AppendTerm(b []byte, term uint64) []byte {
	b = append(b, termMark...)
	for shift := 60; shift >= 0; shift -= 5 {
		b = append(b, digits[term>>shift&31])
	}
	return b
}

// AppendRank appends the points of an entity to b as one word of a search index. There are few different ranks, so a
// search can intersect with them one at a time, the best first, and stop at the limit.
func AppendRank(b []byte, points int) []byte {
	return append(append(b, rankMark...), digits[points])
}

// Few is the maximum number of matches that are sorted by rank. With more, the list of each rank contains so many of
// them that intersecting rank by rank soon reaches the limit.
const Few = 10_000

// RankNumber encodes a rank as one integer.
func RankNumber(r entity.Rank) int64 { return int64(r.Sources)<<8 | int64(r.Known) }

// ParseRank decodes the result of RankNumber.
func ParseRank(n int64) entity.Rank { return entity.Rank{Sources: int(n >> 8), Known: int(n & 0xff)} }

// IsWord reports whether name can be a word of a search index, like the words of names: lower-case letters, digits
// and marks. No entity has any other word.
func IsWord(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
}

// Differing returns the indexes of the words of a query for which Except has other alternatives than Instead. The
// results without Except have one of the alternatives for every word, so they are results of Except if they also have
// one of its alternatives for the words that differ. If none differ, every result is excluded.
func Differing(query entity.Query) (at []int) {
	of := func(list [][]string, i int) []string {
		if i < len(list) {
			return list[i]
		}
		return nil
	}
	for i := range query.Words {
		if !slices.Equal(of(query.Except, i), of(query.Instead, i)) {
			at = append(at, i)
		}
	}
	return at
}
