// SPDX-License-Identifier: Apache-2.0

package document

import (
	"strings"

	"github.com/locus-db/locus/entity"
)

// The marks begin words that are no words of a text: control characters, which none of those holds.
const (
	termMark = "\u0080"
	rankMark = "\u0081"
)

// digits are those of numbers to the base of 32, which no index folds.
const digits = "0123456789abcdefghijklmnopqrstuv"

// Every is a word that every entity has, for a search that can only take away from what it has found.
const Every = "\u0082"

// AppendTerm appends a term to b as one word of a search index.
func AppendTerm(b []byte, term uint64) []byte {
	b = append(b, termMark...)
	for shift := 60; shift >= 0; shift -= 5 {
		b = append(b, digits[term>>shift&31])
	}
	return b
}

// AppendRank appends the points of an entity to b as one word of a search index. There are few, so what is
// searched for can be met with one after the other, the best first, and no more is read than is asked for.
func AppendRank(b []byte, points int) []byte {
	return append(append(b, rankMark...), digits[points])
}

// Few is how many entities are put in the order of their ranks one by one. Of more than these the list of a
// rank has enough of them that it is soon done to meet the lists of ranks one after the other.
const Few = 10_000

// RankNumber is a rank as one number of a row.
func RankNumber(r entity.Rank) int64 { return int64(r.Sources)<<8 | int64(r.Known) }

// ParseRank reads what RankNumber makes.
func ParseRank(n int64) entity.Rank { return entity.Rank{Sources: int(n >> 8), Known: int(n & 0xff)} }

// IsWord tells whether a name can be one word of a search index, as words of names are: lower-case letters,
// digits and marks. No entity has another one.
func IsWord(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
}
