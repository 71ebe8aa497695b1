// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/locus-db/locus/internal/term"
)

// zoom is the hour shown minute by minute, [from, to) in minutes; the rest of the day is shown by ten minutes.
var zoom = [2]int{12 * 60, 13 * 60}

// Lengths of slots in minutes. Ten minutes are a window of sequential order.
const (
	long  = 10
	short = 1
)

// table returns the comparison as Markdown.
func table(all []*spread) string {
	var b strings.Builder
	b.WriteString("| key | hottest shard of a minute | of ten minutes | of the day | shards with 5 % or more of a minute | of ten minutes | families on one shard | ranges moved |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, s := range all {
		whole, moves := "", ""
		if s.whole >= 0 {
			whole, moves = percent(s.whole), term.Count(int64(s.moves))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.1f | %.1f | %s | %s |\n", s.kind.title,
			percent(s.hottest(short)), percent(s.hottest(long)), percent(s.hottest(minutes)), s.busy(short), s.busy(long), whole, moves)
	}
	return b.String()
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// csv returns the shares of the shards by ten minutes over the day, and by minutes over an hour of it. A shard
// without writes in a slot has no line.
func csv(all []*spread) string {
	var b strings.Builder
	b.WriteString("key,slot,minutes,shard,share\n")
	for _, s := range all {
		for _, at := range append(s.slots(0, minutes, long), s.slots(zoom[0], zoom[1], short)...) {
			for shard, share := range at.shares {
				if share > 0 {
					fmt.Fprintf(&b, "%s,%s,%d,%d,%.4f\n", s.kind.name, clock(at.begin), at.length, shard+1, share)
				}
			}
		}
	}
	return b.String()
}

// clock formats a minute of the day.
func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
