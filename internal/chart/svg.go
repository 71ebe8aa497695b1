// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// SVG writes the picture as one SVG document, without styles and scripts.
func SVG(w io.Writer, c *Chart) error {
	m, err := c.layout()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s" font-family="system-ui, sans-serif" font-size="%g">`+"\n",
		m.width, m.height, m.width, m.height, escape(cmp.Or(c.Label, c.Title)), fontSize)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/>`+"\n", m.width, m.height, m.ground)
	for i := range m.list {
		m.list[i].svg(&b)
	}
	b.WriteString("</svg>\n")
	_, err = io.WriteString(w, b.String())
	return err
}

func (k *mark) svg(b *strings.Builder) {
	switch {
	case k.text != "":
		fmt.Fprintf(b, `<text x="%s" y="%s" fill="%s"`, tenth(k.at.x), tenth(k.at.y), k.color)
		if k.anchor != begins {
			fmt.Fprintf(b, ` text-anchor="%s"`, [...]string{"start", "middle", "end"}[k.anchor])
		}
		if k.bold {
			fmt.Fprintf(b, ` font-size="%g" font-weight="600"`, titleSize)
		}
		fmt.Fprintf(b, ">%s</text>\n", escape(k.text))
	case len(k.runs) > 0:
		b.WriteString(`<path d="`)
		for _, run := range k.runs {
			pathData(b, run, k.width == 0)
		}
		if k.width == 0 {
			fmt.Fprintf(b, `" fill="%s" fill-opacity="%g"/>`+"\n", k.color, k.alpha)
		} else {
			fmt.Fprintf(b, `" fill="none" stroke="%s" stroke-width="%g" stroke-linecap="round" stroke-linejoin="round"/>`+"\n",
				k.color, k.width)
		}
	}
}

// pathData writes a run: an absolute start, then relative steps, which are shorter. A run of one point is a zero-length
// line, which round line caps draw as a dot.
func pathData(b *strings.Builder, run []point, closed bool) {
	last := [2]int{tenths(run[0].x), tenths(run[0].y)}
	fmt.Fprintf(b, "M%s %s", tenth(run[0].x), tenth(run[0].y))
	if len(run) == 1 {
		b.WriteString("h0")
	}
	for _, p := range run[1:] {
		at := [2]int{tenths(p.x), tenths(p.y)}
		dx, dy := at[0]-last[0], at[1]-last[1]
		switch {
		case dy == 0:
			b.WriteString("h" + number(dx))
		case dx == 0:
			b.WriteString("v" + number(dy))
		default:
			b.WriteString("l" + number(dx) + " " + number(dy))
		}
		last = at
	}
	if closed {
		b.WriteString("z")
	}
}

// tenths rounds a coordinate to tenths.
func tenths(v float64) int { return int(math.Round(10 * v)) }

func tenth(v float64) string { return number(tenths(v)) }

// number formats tenths.
func number(n int) string {
	if n%10 == 0 {
		return strconv.Itoa(n / 10)
	}
	return strconv.FormatFloat(float64(n)/10, 'f', 1, 64)
}

// escape makes text safe in elements and attributes; characters that XML cannot represent become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}
