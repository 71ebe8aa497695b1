// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
	"github.com/locus-db/locus/internal/term"
)

// Pixels of the picture: a row per kind of key, the day on the left and an hour of it on the right.
const (
	left, right   = 60, 700
	left2, right2 = 770, 1060
	top, height   = 96, 78
	pitch         = 138
)

// colours of the shards, readable on white and on black.
var colours = []string{"#1f77d0", "#e0a000", "#17a2a2", "#d0342c", "#8a5cd0", "#4f9a3a", "#c06a00", "#b0589a"}

// computed describes the model if nothing was measured.
func computed(o options) string {
	split := "which the balancer splits where it moves them"
	if o.autosplit {
		split = "which are split at their median"
	}
	return fmt.Sprintf("Computed from the keys: %d shards, chunks of %s documents, %s; %d a second from %d processes; the second day.",
		o.shards, term.Count(int64(o.size)), split, rate, processes)
}

// picture draws the stacked shares of the shards over the day. how describes the origin of the figures.
func picture(all []*spread, how string) string {
	bottom := float64(top + pitch*len(all))
	return rounds.SVG(right2+40, int(bottom)+16, "share of the writes that each shard takes over a day, by kinds of keys", "", func(b *strings.Builder) {
		p := rounds.Plot{Builder: b}
		p.Text(left, 24, "start", "title", "Which shard takes the writes of a collection that is sharded on _id by ranges")
		p.Text(left, 46, "start", "", "Per cent of the writes by ten minutes of a day; on the right by minutes of an hour of it. Each colour is a shard:")
		shards := len(all[0].writes[0])
		for shard := range shards {
			x := left2 + min(36, (right2-left2)/shards)*shard
			fmt.Fprintf(b, `<rect x="%d" y="36" width="12" height="12" fill="%s"/>`+"\n", x, colour(shard))
			p.Text(float64(x+15), 46, "start", "", fmt.Sprint(shard+1))
		}
		for i, s := range all {
			y := float64(top + pitch*i)
			p.Text(left, y-10, "start", "title", s.kind.title)
			draw(b, s, 0, minutes, long, left, right, y)
			draw(b, s, zoom[0], zoom[1], short, left2, right2, y)
		}
		p.Text((left+right)/2, bottom-24, "middle", "", "time of day, UTC")
		p.Text((left2+right2)/2, bottom-24, "middle", "", "time of day, UTC")
		p.Text(left, bottom, "start", "", how)
	})
}

// colour returns the colour of a shard. Colours repeat if there are more shards.
func colour(shard int) string { return colours[shard%len(colours)] }

// draw fills a panel, with the first shard at the bottom. A slot without writes stays empty.
func draw(b *strings.Builder, s *spread, from, to, length int, x1, x2, y float64) {
	p := rounds.Plot{
		Builder: b,
		X:       rounds.Axis{Low: float64(from), High: float64(to), From: x1, To: x2},
		Y:       rounds.Axis{Low: 0, High: 100, From: y + height, To: y},
	}
	slots := s.slots(from, to, length)
	for shard := range slices.Backward(s.writes[0]) {
		var path strings.Builder
		end, was := -1, ""
		for _, at := range slots {
			sum := 0.0
			for _, share := range at.shares[:shard+1] {
				sum += share
			}
			v, x := fmt.Sprintf("%.1f", p.Y.At(100*sum)), p.X.At(float64(at.begin))
			switch {
			case at.begin != end:
				if end >= 0 {
					fmt.Fprintf(&path, "H%.1fV%.1fZ", p.X.At(float64(end)), p.Y.From)
				}
				fmt.Fprintf(&path, "M%.1f %.1fV%s", x, p.Y.From, v)
			case v != was:
				fmt.Fprintf(&path, "H%.1fV%s", x, v)
			}
			end, was = at.begin+at.length, v
		}
		if end >= 0 {
			fmt.Fprintf(b, `<path fill="%s" d="%sH%.1fV%.1fZ"/>`+"\n", colour(shard), path.String(),
				p.X.At(float64(end)), p.Y.From)
		}
	}
	var xs []float64
	for v := from; v <= to; v += (to - from) / 6 {
		xs = append(xs, float64(v))
	}
	p.Frame(xs, []float64{0, 50, 100}, func(v float64) string { return clock(int(v)) })
}
