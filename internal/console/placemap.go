// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

const (
	mapWide   = 640
	mapHigh   = 320
	mapMargin = 40
	// mapLeast is the least height of the part of the world that is shown, in degrees: some 20 metres.
	mapLeast = 0.0002
	// metresOf a degree of latitude.
	metresOf = 111_195.0
)

// placemap is a map of the records of an entity that have coordinates, drawn without any picture of the ground:
// records, the place of the merged view, and a scale. A degree of longitude has the length that it has in the middle of
// the map.
type placemap struct {
	Spots []spotOf
	View  *mapPoint // of the merged view
	Scale mapScale
	Apart string // the largest distance between two records; "" for one
	Out   int    // records without coordinates
}

// mapPoint is a point of the picture, in its own units.
type mapPoint struct{ X, Y int }

// spotOf is a place with the records that are there.
type spotOf struct {
	mapPoint
	Numbers []int
	Text    string // the numbers, shortened
	At      string // the coordinates
}

// mapScale is a line of a round length.
type mapScale struct {
	X1, X2 int
	Text   string
}

// geo is a position in degrees.
type geo struct{ lat, lon float64 }

// newPlacemap returns nil if no record has coordinates.
func newPlacemap(schema *match.Schema, records []*entity.Record, view entity.View) *placemap {
	var lat, lon string
	for _, a := range schema.Attributes {
		if a.Type == match.TypeGeo && a.Role == match.RoleLatitude {
			lat = a.Name
		} else if a.Type == match.TypeGeo && a.Role == match.RoleLongitude {
			lon = a.Name
		}
	}
	m := &placemap{}
	var at []geo
	var of [][]int
	for i, r := range records {
		g, ok := coordinates(firstOf(r.Attributes[lat]), firstOf(r.Attributes[lon]))
		if !ok {
			m.Out++
			continue
		}
		if n := slices.Index(at, g); n >= 0 {
			of[n] = append(of[n], i+1)
			continue
		}
		at, of = append(at, g), append(of, []int{i + 1})
	}
	if len(at) == 0 {
		return nil
	}
	shown := at
	merged, ok := coordinates(view.First(lat), view.First(lon))
	if ok {
		shown = append(slices.Clone(at), merged)
	}
	p := newProjection(shown)
	for i, g := range at {
		s := spotOf{mapPoint: p.point(g), Numbers: of[i], At: fmt.Sprintf("%.5f, %.5f", g.lat, g.lon)}
		if s.Text = strconv.Itoa(of[i][0]); len(of[i]) > 1 {
			s.Text += fmt.Sprintf(" +%d", len(of[i])-1)
		}
		m.Spots = append(m.Spots, s)
	}
	if ok {
		point := p.point(merged)
		m.View = &point
	}
	m.Scale = p.scale()
	var apart float64
	for i := range at {
		for j := range i {
			apart = max(apart, metres(at[i], at[j]))
		}
	}
	if len(at) > 1 {
		m.Apart = distance(apart)
	}
	return m
}

func firstOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func coordinates(lat, lon string) (g geo, ok bool) {
	var other bool
	g.lat, ok = match.Degrees(lat, match.RoleLatitude)
	g.lon, other = match.Degrees(lon, match.RoleLongitude)
	return g, ok && other
}

// projection centres the displayed places in the picture.
type projection struct {
	middle geo
	unit   float64 // units of the picture of a degree of latitude
	shrink float64 // of a degree of longitude, against one of latitude
}

func newProjection(all []geo) projection {
	low, high := all[0], all[0]
	for _, g := range all {
		low.lat, low.lon = min(low.lat, g.lat), min(low.lon, g.lon)
		high.lat, high.lon = max(high.lat, g.lat), max(high.lon, g.lon)
	}
	p := projection{middle: geo{(low.lat + high.lat) / 2, (low.lon + high.lon) / 2}}
	p.shrink = max(math.Cos(p.middle.lat*math.Pi/180), 0.01)
	p.unit = min((mapHigh-2*mapMargin)/max(high.lat-low.lat, mapLeast),
		(mapWide-2*mapMargin)/max((high.lon-low.lon)*p.shrink, mapLeast))
	return p
}

func (p projection) point(g geo) mapPoint {
	return mapPoint{
		X: mapWide/2 + int(math.Round((g.lon-p.middle.lon)*p.shrink*p.unit)),
		Y: mapHigh/2 - int(math.Round((g.lat-p.middle.lat)*p.unit)),
	}
}

// scale returns a line of the longest round length that is at most a quarter of the picture.
func (p projection) scale() mapScale {
	perUnit := metresOf / p.unit
	most := mapWide / 4 * perUnit
	length := math.Pow(10, math.Floor(math.Log10(most)))
	for _, step := range []float64{5, 2} {
		if length*step <= most {
			length *= step
			break
		}
	}
	return mapScale{X1: 16, X2: 16 + int(math.Round(length/perUnit)), Text: distance(length)}
}

// metres returns the distance on a sphere.
func metres(a, b geo) float64 {
	rad := math.Pi / 180
	dLat, dLon := (b.lat-a.lat)*rad/2, (b.lon-a.lon)*rad/2
	h := math.Sin(dLat)*math.Sin(dLat) + math.Cos(a.lat*rad)*math.Cos(b.lat*rad)*math.Sin(dLon)*math.Sin(dLon)
	return 2 * metresOf / rad * math.Asin(math.Min(1, math.Sqrt(h)))
}

func distance(m float64) string {
	if m < 1000 {
		return strconv.FormatFloat(m, 'f', 0, 64) + " m"
	}
	return strconv.FormatFloat(m/1000, 'g', 3, 64) + " km"
}

// Wide returns the width of the picture.
func (*placemap) Wide() int { return mapWide }

// High returns its height.
func (*placemap) High() int { return mapHigh }
