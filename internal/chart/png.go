// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scale is how many pixels of a PNG one of the layout is, so that it is sharp on today's screens.
const scale = 2

// PNG writes the picture as PNG, of twice its width and height in pixels. Its font has the letters of Latin, Greek
// and Cyrillic; others are boxes.
func PNG(w io.Writer, c *Chart) error {
	m, err := c.layout()
	if err != nil {
		return err
	}
	p := &painter{dst: image.NewRGBA(image.Rect(0, 0, scale*m.width, scale*m.height)), faces: map[bool]font.Face{}}
	draw.Draw(p.dst, p.dst.Bounds(), image.NewUniform(rgb(m.ground, 1)), image.Point{}, draw.Src)
	for i := range m.list {
		if err := p.paint(&m.list[i]); err != nil {
			return err
		}
	}
	return png.Encode(w, p.dst)
}

type painter struct {
	dst   *image.RGBA
	faces map[bool]font.Face // bold or not; a face is not for many goroutines
}

func (p *painter) paint(k *mark) error {
	if k.text != "" {
		return p.words(k)
	}
	alpha := k.alpha
	if k.width > 0 {
		alpha = 1
	}
	src := image.NewUniform(rgb(k.color, alpha))
	for _, run := range k.runs {
		box := k.box(run).Intersect(p.dst.Bounds()) // only what is touched, which is little of most marks
		r := &shape{vector.NewRasterizer(box.Dx(), box.Dy()), box.Min}
		if k.width == 0 {
			r.polygon(run)
		} else {
			r.stroke(run, k.width)
		}
		r.Draw(p.dst, box, src, image.Point{})
	}
	return nil
}

// box is the pixels that a run touches.
func (k *mark) box(run []point) image.Rectangle {
	low, high := run[0], run[0]
	for _, at := range run {
		low = point{min(low.x, at.x), min(low.y, at.y)}
		high = point{max(high.x, at.x), max(high.y, at.y)}
	}
	return image.Rect(
		int(scale*(low.x-k.width))-1, int(scale*(low.y-k.width))-1,
		int(scale*(high.x+k.width))+2, int(scale*(high.y+k.width))+2,
	)
}

// shape is drawn in a part of the picture.
type shape struct {
	*vector.Rasterizer
	origin image.Point
}

// polygon adds a closed shape.
func (s *shape) polygon(points []point) {
	for i, at := range points {
		x, y := float32(scale*at.x-float64(s.origin.X)), float32(scale*at.y-float64(s.origin.Y))
		if i == 0 {
			s.MoveTo(x, y)
		} else {
			s.LineTo(x, y)
		}
	}
	s.ClosePath()
}

// stroke adds a line as shapes: a bar for each step and a disc at each point. All turn the same way, so that what
// overlaps does not cancel out.
func (s *shape) stroke(run []point, width float64) {
	const corners = 8
	half := width / 2
	for i, at := range run {
		disc := make([]point, corners)
		for j := range disc {
			sin, cos := math.Sincos(2 * math.Pi * float64(j) / corners)
			disc[j] = point{at.x + half*cos, at.y + half*sin}
		}
		if width > 1 {
			s.polygon(disc)
		}
		if i == 0 {
			continue
		}
		from := run[i-1]
		dx, dy := at.x-from.x, at.y-from.y
		length := math.Hypot(dx, dy)
		if length == 0 {
			continue
		}
		nx, ny := half*dy/length, -half*dx/length
		s.polygon([]point{{from.x + nx, from.y + ny}, {at.x + nx, at.y + ny}, {at.x - nx, at.y - ny}, {from.x - nx, from.y - ny}})
	}
}

var fonts = sync.OnceValues(func() (of map[bool]*opentype.Font, err error) {
	of = map[bool]*opentype.Font{}
	for bold, data := range map[bool][]byte{false: goregular.TTF, true: gobold.TTF} {
		if of[bold], err = opentype.Parse(data); err != nil {
			return nil, fmt.Errorf("chart: read the font: %w", err)
		}
	}
	return of, nil
})

func (p *painter) words(k *mark) error {
	face, there := p.faces[k.bold]
	if !there {
		all, err := fonts()
		if err != nil {
			return err
		}
		size := fontSize
		if k.bold {
			size = titleSize
		}
		if face, err = opentype.NewFace(all[k.bold], &opentype.FaceOptions{Size: scale * size, DPI: 72, Hinting: font.HintingNone}); err != nil {
			return fmt.Errorf("chart: read the font: %w", err)
		}
		p.faces[k.bold] = face
	}
	d := font.Drawer{Dst: p.dst, Src: image.NewUniform(rgb(k.color, 1)), Face: face}
	x := fixed.Int26_6(64 * scale * k.at.x)
	switch k.anchor {
	case begins:
	case centred:
		x -= d.MeasureString(k.text) / 2
	case ends:
		x -= d.MeasureString(k.text)
	}
	d.Dot = fixed.Point26_6{X: x, Y: fixed.Int26_6(64 * scale * k.at.y)}
	d.DrawString(k.text)
	return nil
}

// rgb reads #rrggbb.
func rgb(text string, alpha float64) color.NRGBA {
	n, err := strconv.ParseUint(text[1:], 16, 24)
	if err != nil {
		panic(err) // the palettes are part of this package
	}
	return color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: uint8(math.Round(255 * alpha))} //nolint:gosec // the bytes of a number of 24 bits
}
