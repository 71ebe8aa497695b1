// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// small returns a picture of a page with a palette, about a third of its size. Similar colours are replaced by the most
// frequent of them; colours beyond the first 256 become the nearest one.
func small(picture []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(from.At(x, y)).(color.RGBA) }
	frame, counts := from.Bounds(), map[color.RGBA]int{}
	for y := frame.Min.Y; y < frame.Max.Y; y++ {
		for x := frame.Min.X; x < frame.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	type alike struct {
		all, most int
		of        color.RGBA
	}
	groups := map[color.RGBA]*alike{}
	for c, n := range counts {
		key := color.RGBA{c.R &^ 7, c.G &^ 7, c.B &^ 7, 255}
		if groups[key] == nil {
			groups[key] = &alike{}
		}
		g := groups[key]
		if g.all += n; n > g.most || n == g.most && less(c, g.of) {
			g.most, g.of = n, c
		}
	}
	frequent := slices.SortedFunc(maps.Values(groups), func(a, b *alike) int {
		if less(a.of, b.of) {
			return cmp.Or(b.all-a.all, -1)
		}
		return cmp.Or(b.all-a.all, 1)
	})
	var palette color.Palette
	for _, g := range frequent[:min(256, len(frequent))] {
		palette = append(palette, g.of)
	}
	to, near := image.NewPaletted(frame, palette), map[color.RGBA]uint8{}
	for c := range counts {
		near[c] = uint8(palette.Index(c)) //nolint:gosec // a palette has at most 256 colours
	}
	for y := frame.Min.Y; y < frame.Max.Y; y++ {
		for x := frame.Min.X; x < frame.Max.X; x++ {
			to.SetColorIndex(x, y, near[at(x, y)])
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to)
	return out.Bytes(), err
}

func less(a, b color.RGBA) bool {
	return cmp.Or(cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B)) < 0
}
