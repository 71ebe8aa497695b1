// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/match"
)

// fine is a number with three decimals or more: degrees that are exact to a hundred metres.
var fine = regexp.MustCompile(`^-?\d{1,3}\.\d{3,}$`)

// completePoint guesses the longitude and the latitude of columns X and Y, as programs for maps write points, if nearly
// all values are fine degrees. Others are metres of a projection or pixels.
func (r *recognition) completePoint() {
	if r.wholePoint() {
		return
	}
	var point [2]int
	for axis, want := range []struct {
		role  match.Role
		name  string
		limit float64
	}{{match.RoleLongitude, "x", 180}, {match.RoleLatitude, "y", 90}} {
		point[axis] = -1
		for i, c := range r.columns {
			if uses, _ := r.mapping.resolve(c.name); c.plain == want.name && len(uses) == 0 && areFine(c.values, want.limit) {
				point[axis] = i
			}
		}
		a := r.attributeOf(want.role)
		if point[axis] < 0 || a == nil || r.mapping.isSet(a.Name) {
			return
		}
		for _, c := range r.columns {
			if uses, _ := r.mapping.resolve(c.name); len(uses) > 0 && uses[0].attribute == a.Name || aliasOf(r.kind, a, c.plain) != noAlias && len(c.values) > 0 {
				return
			}
		}
	}
	for axis, role := range []match.Role{match.RoleLongitude, match.RoleLatitude} {
		name := r.columns[point[axis]].name
		r.mapping.guess[name], r.reasons[name] = r.attributeOf(role).Name, "X and Y in degrees"
	}
}

// pointNames are names, without "_", of columns with both coordinates of a point.
var pointNames = nameSet(`coordinates coordinate coords coord latlng latlon latlong latitudelongitude geo geom geometry geopoint geolocation geocoordinates gps
	gpscoordinates gpslocation point location georeference wkt koordinaten koordinate coordonnees coordenadas coordinate coordinaten geokoordinaten`)

// wholePoint guesses the latitude and the longitude of a column with both, if no other column has one of them.
func (r *recognition) wholePoint() bool {
	latitude, longitude := r.attributeOf(match.RoleLatitude), r.attributeOf(match.RoleLongitude)
	if latitude == nil || longitude == nil || r.mapping.isSet(latitude.Name) || r.mapping.isSet(longitude.Name) {
		return false
	}
	found := -1
	for i, c := range r.columns {
		switch uses, _ := r.mapping.resolve(c.name); {
		case len(uses) > 0 && (uses[0].attribute == latitude.Name || uses[0].attribute == longitude.Name),
			aliasOf(r.kind, latitude, c.plain) != noAlias && fits(latitude, c.values):
			return false
		case len(uses) == 0 && found < 0 && pointNames[joined(c.plain)] && nearlyAll(c.values, match.IsPoint) && !slices.Contains(r.o.Ignore, c.name):
			found = i
		}
	}
	if found < 0 {
		return false
	}
	name := r.columns[found].name
	for _, a := range []*match.Attribute{latitude, longitude} {
		if r.mapping.assign(Assignment{a.Name, name}, r.names()) != nil {
			return false
		}
	}
	r.reasons[name] = "latitude and longitude"
	return true
}

// attributeOf returns the attribute with a role, nil if there is none.
func (r *recognition) attributeOf(role match.Role) *match.Attribute {
	for i := range r.kind.Attributes {
		if r.kind.Attributes[i].Role == role {
			return &r.kind.Attributes[i]
		}
	}
	return nil
}

// areFine reports whether nearly all values are fine degrees up to a limit, north or south, east or west.
func areFine(values []string, limit float64) bool {
	return nearlyAll(values, func(value string) bool {
		value = strings.TrimSpace(value)
		degrees, err := strconv.ParseFloat(value, 64)
		return err == nil && fine.MatchString(value) && degrees >= -limit && degrees <= limit
	})
}

// dropHalfPoint gives up a guessed coordinate whose other one is missing, or has values that it cannot have.
func (r *recognition) dropHalfPoint() {
	lon, lat := r.attributeOf(match.RoleLongitude), r.attributeOf(match.RoleLatitude)
	if lon == nil || lat == nil || r.has(lon) == r.has(lat) {
		return
	}
	for name, attribute := range r.mapping.guess {
		if attribute == lon.Name || attribute == lat.Name {
			delete(r.mapping.guess, name)
			delete(r.reasons, name)
			r.misfits[name] = fmt.Sprintf("column %.60q is one coordinate without the other", name)
		}
	}
}
