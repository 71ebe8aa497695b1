// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/chart"
)

var rewrite = flag.Bool("rewrite", false, "write the pictures of testdata anew")

// day is a day by minute with an outage, a burst and an end at 20:00.
func day(name string) *chart.Chart {
	from := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	c := &chart.Chart{Title: name, End: from.AddDate(0, 0, 1), Lines: []chart.Line{{Name: name}}}
	for i := range 24 * 60 {
		v := math.Round(400 + 350*math.Sin(float64(i)/1440*2*math.Pi-2) + 40*math.Sin(float64(i*i)))
		switch {
		case i >= 600 && i < 660 || i >= 1200:
			v = math.NaN()
		case i == 900:
			v = 1430
		}
		c.Times = append(c.Times, from.Add(time.Duration(i)*time.Minute))
		c.Lines[0].Values = append(c.Lines[0].Values, v)
	}
	return c
}

func svg(t testing.TB, c *chart.Chart) string {
	t.Helper()
	var b bytes.Buffer
	if err := chart.SVG(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with a file in testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what is drawn: look at it and run with -rewrite", path)
	}
}

func TestChart_Golden(t *testing.T) {
	t.Parallel()
	c := day("page /about")
	golden(t, "day.svg", svg(t, c))
	c.Theme, c.Width, c.Height = chart.Dark, 360, 220
	golden(t, "narrow-dark.svg", svg(t, c))
}

func TestChart_TextIsEscapedAndNothingRuns(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`<script>alert(1)</script>`, `" onload="alert(1)`, "a & b", "\x00\xff\u202e", `]]>`, `javascript:alert(1)`} {
		c := day(name)
		c.Label = name
		c.Lines = append(c.Lines, chart.Line{Name: name, Values: c.Lines[0].Values, Faint: true})
		d := xml.NewDecoder(strings.NewReader(svg(t, c)))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			element, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			switch element.Name.Local {
			case "svg", "rect", "path", "text":
			default:
				t.Errorf("%q: element %s", name, element.Name.Local)
			}
			for _, a := range element.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || a.Name.Local == "class" ||
					a.Name.Local == "href" {
					t.Errorf("%q: attribute %s", name, a.Name.Local)
				}
			}
		}
	}
}

// paths returns the strokes of a colour, each as its runs.
func paths(picture, color string) (runs []string) {
	for _, m := range regexp.MustCompile(`<path d="([^"]*)" fill="none" stroke="`+color+`"`).FindAllStringSubmatch(picture, -1) {
		runs = append(runs, strings.Split(strings.TrimPrefix(m[1], "M"), "M")...)
	}
	return runs
}

func TestChart_WhatIsNotKnownIsAGap(t *testing.T) {
	t.Parallel()
	c := day("x")
	picture := svg(t, c)
	if n := len(paths(picture, "#0b6e63")); n != 2 {
		t.Errorf("a line with an outage has %d runs", n)
	}
	if n := strings.Count(picture, "fill-opacity"); n != 2 {
		t.Errorf("%d areas are filled", n)
	}
	alone := &chart.Chart{Times: c.Times[:3], End: c.Times[3],
		Lines: []chart.Line{{Values: []float64{math.NaN(), 7, math.NaN()}}}}
	if runs := paths(svg(t, alone), "#0b6e63"); len(runs) != 1 || !strings.HasSuffix(runs[0], "h0") {
		t.Errorf("a single value is %q: want a dot", runs)
	}
	none := &chart.Chart{Times: c.Times[:2], End: c.Times[2],
		Lines: []chart.Line{{Values: []float64{math.NaN(), math.NaN()}}}}
	if runs := paths(svg(t, none), "#0b6e63"); len(runs) != 0 {
		t.Errorf("nothing known is %q", runs)
	}
}

// A peak of one minute in a year is drawn at full height.
func TestChart_NoPeakGetsLost(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &chart.Chart{End: from.Add(50_000 * time.Minute), Lines: []chart.Line{{}}}
	for i := range 50_000 {
		c.Times = append(c.Times, from.Add(time.Duration(i)*time.Minute))
		c.Lines[0].Values = append(c.Lines[0].Values, 10)
	}
	c.Lines[0].Values[31_416] = 100
	picture := svg(t, c)
	if len(picture) > 100_000 {
		t.Errorf("%d bytes", len(picture))
	}
	if runs := paths(picture, "#0b6e63"); len(runs) != 1 || !strings.Contains(runs[0], "v-") {
		t.Errorf("no peak in %.300q", runs)
	}
}

func TestChart_SameBytesFromManyAtOnce(t *testing.T) {
	t.Parallel()
	c := day("x")
	c.Width, c.Height = 160, 100
	draw := func() string {
		var b bytes.Buffer
		if err := chart.SVG(&b, c); err != nil {
			t.Error(err)
		}
		return b.String()
	}
	want := draw()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if draw() != want {
				t.Error("another picture")
			}
		})
	}
	all.Wait()
}

func TestChart_Refuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(c *chart.Chart){
		"nothing":      func(c *chart.Chart) { c.Times = nil },
		"no line":      func(c *chart.Chart) { c.Lines = nil },
		"many lines":   func(c *chart.Chart) { c.Lines = make([]chart.Line, chart.MaxLines+1) },
		"a value less": func(c *chart.Chart) { c.Lines[0].Values = c.Lines[0].Values[1:] },
		"no end":       func(c *chart.Chart) { c.End = c.Times[len(c.Times)-1] },
	} {
		c := day("x")
		spoil(c)
		if chart.SVG(io.Discard, c) == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}

var coordinate = regexp.MustCompile(`(?:x|y)="(-?[0-9.]+)"|M(-?[0-9.]+) (-?[0-9.]+)`)

// For any values and range, the picture is valid XML and stays inside its frame.
func TestChart_AnyValues(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC, time.FixedZone("", -12*3600), zone(t, "Australia/Lord_Howe"),
		zone(t, "Europe/Berlin")}
	rapid.Check(t, func(t *rapid.T) {
		step := time.Duration(rapid.SampledFrom([]int{1, 15, 60, 24 * 60, 7 * 24 * 60}).Draw(t, "step")) * time.Minute
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "from"),
			0).In(rapid.SampledFrom(zones).Draw(t, "zone")).Truncate(time.Minute)
		c := &chart.Chart{Floating: rapid.Bool().Draw(t, "floating"), Width: rapid.IntRange(160, 500).Draw(t, "width"),
			Height: rapid.IntRange(100, 300).Draw(t, "height")}
		values := rapid.SliceOfN(rapid.OneOf(
			rapid.Just(math.NaN()), rapid.Just(0.0), rapid.Float64Range(-9.3e18, 9.3e18), rapid.Map(rapid.IntRange(-50, 1000), func(n int) float64 { return float64(n) }),
		), 1, 20).Draw(t, "values")
		for i := range values {
			c.Times = append(c.Times, at.Add(time.Duration(i)*step))
		}
		c.End = at.Add(time.Duration(len(values)) * step)
		c.Lines = []chart.Line{{Name: rapid.String().Draw(t, "name"), Values: values}, {Values: values, Faint: true}}
		var b bytes.Buffer
		if err := chart.SVG(&b, c); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
			t.Fatal(err)
		}
		for _, m := range coordinate.FindAllStringSubmatch(b.String(), -1) {
			for _, text := range m[1:] {
				if v, err := strconv.ParseFloat(text, 64); text != "" && (err != nil || v < -1 || v > 501) {
					t.Fatalf("a coordinate is %s", text)
				}
			}
		}
	})
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func BenchmarkChart_SVG(b *testing.B) {
	c := day("x")
	for b.Loop() {
		if err := chart.SVG(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}
