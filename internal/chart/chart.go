// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Chart describes a picture.
type Chart struct {
	// Title is shown above the picture. Label describes it for screen readers; it defaults to Title.
	Title, Label string
	// Times are the starts of the steps of the values, ascending, in the time zone of the axis labels.
	Times []time.Time
	// End is the end of the last step.
	End   time.Time
	Lines []Line
	// Floating lets the axis begin near the lowest value. Otherwise it begins at 0, or below.
	Floating bool
	// Width and Height are in pixels. They default to 960 and 300.
	Width, Height int
	Theme         Theme
}

// Line has a value for each of the times; NaN means unknown.
type Line struct {
	Name   string
	Values []float64
	// Faint draws the line behind the others, as a reference.
	Faint bool
}

// Theme is the set of colours.
type Theme uint8

// Themes, as in the console.
const (
	Light Theme = iota
	Dark
)

// MaxLines is the maximum number of distinguishable lines.
const MaxLines = 8

var errEmpty = errors.New("chart: there is nothing to draw")

// check returns an error for a chart that cannot be drawn.
func (c *Chart) check() error {
	if len(c.Times) == 0 || len(c.Lines) == 0 {
		return errEmpty
	}
	if len(c.Lines) > MaxLines {
		return fmt.Errorf("chart: %d lines: want at most %d", len(c.Lines), MaxLines)
	}
	for i := range c.Lines {
		if n := len(c.Lines[i].Values); n != len(c.Times) {
			return fmt.Errorf("chart: line %d has %d values for %d times", i, n, len(c.Times))
		}
	}
	if !c.End.After(c.Times[len(c.Times)-1]) {
		return errors.New("chart: the last step ends before it begins")
	}
	return nil
}

func (c *Chart) size() (width, height int) {
	width, height = c.Width, c.Height
	if width == 0 {
		width = 960
	}
	if height == 0 {
		height = 300
	}
	return max(width, 160), max(height, 100)
}

// bounds returns the lowest and the highest value; 0 and 0 if none is known.
func (c *Chart) bounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range c.Lines {
		for _, v := range c.Lines[i].Values {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return 0, 0
	}
	if !c.Floating {
		low, high = min(low, 0), max(high, 0)
	}
	return low, high
}

// palette holds the colours of a theme, as #rrggbb.
type palette struct {
	ground, grid, axis, text, soft, faint string
	lines                                 [MaxLines]string
}

var palettes = [...]palette{
	Light: {
		ground: "#ffffff", grid: "#e4e8e3", axis: "#b9c2bd", text: "#17211f", soft: "#566460", faint: "#a3ada9",
		lines: [...]string{"#0b6e63", "#b4462f", "#5a3fc0", "#a86a12", "#2166ac", "#8a2f6f", "#4d7a1f", "#566460"},
	},
	Dark: {
		ground: "#171f1d", grid: "#2b3633", axis: "#4a5753", text: "#e6ecea", soft: "#9baca7", faint: "#5f6f6a",
		lines: [...]string{"#62c9b8", "#e58a72", "#b7a6ff", "#e0b45c", "#7db8ea", "#e08fc6", "#a5cc72", "#9baca7"},
	},
}

func (t Theme) palette() *palette {
	if t == Dark {
		return &palettes[Dark]
	}
	return &palettes[Light]
}
