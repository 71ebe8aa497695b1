// SPDX-License-Identifier: Apache-2.0

package console

import "github.com/locus-db/locus/quality"

// Sizes of the picture of match weights.
const (
	histogramWide = 720
	histogramHigh = 180
	histogramFoot = 24 // below the bars, for the numbers
)

// histogram is a picture of match weights: a bar for each whole bit, the part for pairs within entities on top of the
// part for pairs of two entities.
type histogram struct {
	Bars          []histogramBar
	Wide, High    int
	Base, Foot    int
	Mark          int // where the threshold is
	Threshold     string
	Joined, Apart string
	Label         string
}

type histogramBar struct {
	Bits             string
	X, Width         int
	JoinedY, JoinedH int
	ApartY, ApartH   int
	Joined, Apart    string
	Middle           int
	Numbered         bool
	IsBeyond         bool
}

func newHistogram(k *quality.KindProfile) *histogram {
	h := &histogram{Wide: histogramWide, High: histogramHigh + histogramFoot, Base: histogramHigh,
		Foot: histogramHigh + 16, Threshold: k.Threshold.String()}
	most, joined, apart := 1, 0, 0
	for _, b := range k.Weights {
		most = max(most, b.Joined+b.Apart)
		joined, apart = joined+b.Joined, apart+b.Apart
	}
	h.Joined, h.Apart = count(int64(joined)), count(int64(apart))
	h.Label = "Match weights of " + counted(int64(joined), "pair") + " within entities and " + counted(int64(apart),
		"pair") + " between two, by bits; the threshold is " + h.Threshold
	if len(k.Weights) == 0 {
		return h
	}
	bins := max(len(k.Weights), int(k.Threshold)/100+2)
	step := histogramWide / bins
	h.Mark = int(k.Threshold) * step / 100
	// A bar that has a pair is at least a point high.
	high := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(1, n*(histogramHigh-10)/most)
	}
	for i, b := range k.Weights {
		bar := histogramBar{
			Bits: count(int64(b.Bits)), X: i * step, Width: max(1, step-2), Middle: i*step + step/2,
			Joined: count(int64(b.Joined)), Apart: count(int64(b.Apart)), Numbered: b.Bits%5 == 0,
			IsBeyond: b.Bits == quality.MostBits,
		}
		bar.ApartH, bar.JoinedH = high(b.Apart), high(b.Joined)
		bar.ApartY = histogramHigh - bar.ApartH
		bar.JoinedY = bar.ApartY - bar.JoinedH
		h.Bars = append(h.Bars, bar)
	}
	return h
}
