// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"github.com/golang/geo/s2"
)

// cellLevel is the level of the S2 cells of blocking keys: about 1.2 km across.
const cellLevel = 13

// earthRadius is the mean radius in metres.
const earthRadius = 6371008.8

// point is a point on the sphere as a unit vector, which makes a distance three multiplications. The zero
// point means unknown: (0, 0) degrees is a common spelling of missing coordinates.
type point struct{ x, y, z float64 }

func (p point) valid() bool { return p != point{} }

func parsePoint(latitude, longitude string) point {
	lat, ok := parseDegrees(latitude, RoleLatitude)
	if !ok {
		return point{}
	}
	lng, ok := parseDegrees(longitude, RoleLongitude)
	if !ok || lat == 0 && lng == 0 || !(math.Abs(lat) <= 90) || !(math.Abs(lng) <= 180) {
		return point{}
	}
	sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
	sinLng, cosLng := math.Sincos(lng * math.Pi / 180)
	return point{cosLat * cosLng, cosLat * sinLng, sinLat}
}

// cells returns the names of two areas around the point: its S2 cell of a level, and the cell-sized area around the
// nearest corner of the grid. The two grids are offset by half a cell, so that near points share one of the
// two, unless both grids separate them.
func (p point) cells(level int) (cell, corner string) {
	id := p.cellID()
	around := id.VertexNeighbors(level)
	return areaToken(id.Parent(level)), areaToken(slices.Min(around)) + "+"
}

func (p point) cellID() s2.CellID {
	return s2.CellIDFromLatLng(s2.LatLngFromPoint(s2.PointFromCoords(p.x, p.y, p.z)))
}

// areaToken is ToToken of an area, which formats with package fmt: that takes a tenth of the time of normalising a
// place.
func areaToken(id s2.CellID) string {
	var text [16]byte
	hex.Encode(text[:], binary.BigEndian.AppendUint64(nil, uint64(id)))
	return string(bytes.TrimRight(text[:], "0"))
}

// Distances in metres between the levels, as squared chords of the unit sphere: below a few kilometres
// chord and arc are equal.
var (
	chord30   = squaredChord(30)
	chord100  = squaredChord(100)
	chord250  = squaredChord(250)
	chord700  = squaredChord(700)
	chord2500 = squaredChord(2500)
)

func squaredChord(metres float64) float64 { return (metres / earthRadius) * (metres / earthRadius) }

func comparePoints(a, b point) level {
	if !a.valid() || !b.valid() {
		return levelNone
	}
	switch d := a.to(b); {
	case d < chord30:
		return distance30
	case d < chord100:
		return distance100
	case d < chord250:
		return distance250
	case d < chord700:
		return distance700
	case d < chord2500:
		return distance2500
	default:
		return distanceFar
	}
}

// to returns the squared chord to another point.
func (p point) to(other point) float64 {
	dx, dy, dz := p.x-other.x, p.y-other.y, p.z-other.z
	return dx*dx + dy*dy + dz*dz
}

// normalDegrees returns the normal form of a latitude or longitude: six decimals, about 0.1 m.
func normalDegrees(raw string, a *Attribute) string {
	degrees, ok := parseDegrees(raw, a.Role)
	if !ok || !(math.Abs(degrees) <= a.degrees()) {
		return ""
	}
	text := strconv.FormatFloat(degrees, 'f', 6, 64)
	if text == "-0.000000" {
		return text[1:]
	}
	return text
}
