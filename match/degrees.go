// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// angle is a latitude or a longitude as maps and gazetteers write it: 40.446, 40°26′46″N, 40d 26.77m S, W 79:58:56.
const angle = `(?:([NSEWnsew])\s*)?([+−-]?)(\d{1,3}(?:\.\d+)?)` +
	`(?:\s*[°ºd:]\s*(?:(\d{1,2}(?:\.\d+)?)\s*[′’'m:]?\s*` +
	`(?:(\d{1,2}(?:\.\d+)?)\s*(?:[″”"s]|''|′′)?\s*)?)?)?\s*([NSEWnsew])?`

// anAngle and aPoint are the forms of a value with one of the two, and with both. Well-known text, wellPut, has the
// longitude first.
var (
	anAngle = regexp.MustCompile(`^` + angle + `$`)
	aPoint  = regexp.MustCompile(`^[(\[]?` + angle + `\s*(?:[,;/|]\s*|\s)` + angle + `[)\]]?$`)
	wellPut = regexp.MustCompile(`^(?i:(?:srid=4326;\s*)?point\s*)\(\s*(-?[\d.]+)\s+(-?[\d.]+)\s*\)$`)
)

// angleParts are the groups of one angle: hemisphere, sign, degrees, minutes, seconds, hemisphere.
const angleParts = 6

// parseDegrees is Degrees without the range.
func parseDegrees(raw string, role Role) (degrees float64, ok bool) {
	raw = strings.TrimSpace(raw)
	if degrees, err := strconv.ParseFloat(raw, 64); err == nil {
		return degrees, !math.IsNaN(degrees)
	}
	if len(raw) > maxDegrees || !hasDigit(raw) {
		return 0, false
	}
	if parts := anAngle.FindStringSubmatch(raw); parts != nil {
		degrees, of := readAngle(parts[1:])
		return degrees, of == "" || of == role
	}
	latitude, longitude, ok := parsePair(raw)
	if role == RoleLatitude {
		return latitude, ok
	}
	return longitude, ok
}

// maxDegrees is the length of the longest value with coordinates that is read, in bytes.
const maxDegrees = 64

// parsePair reads a value with both coordinates, the latitude first unless the hemispheres or the form say otherwise.
// Two whole numbers may be degrees and minutes of one, or a fraction after a comma.
func parsePair(raw string) (latitude, longitude float64, ok bool) {
	if parts := wellPut.FindStringSubmatch(raw); parts != nil {
		longitude, err := strconv.ParseFloat(parts[1], 64)
		latitude, err2 := strconv.ParseFloat(parts[2], 64)
		return latitude, longitude, err == nil && err2 == nil
	}
	parts := aPoint.FindStringSubmatch(raw)
	if parts == nil {
		return 0, 0, false
	}
	first, of := readAngle(parts[1 : 1+angleParts])
	second, other := readAngle(parts[1+angleParts:])
	if of == RoleLongitude || other == RoleLatitude {
		first, second, of, other = second, first, other, of
	}
	exact := of != "" && other != "" || strings.Count(raw, ".") > 1 || strings.Count(raw, "°") > 1
	return first, second, exact && of != RoleLongitude && other != RoleLatitude
}

// readAngle returns an angle in degrees, and which of the two it is if its hemisphere says so.
func readAngle(parts []string) (degrees float64, of Role) {
	unit := 1.0
	for _, text := range parts[2:5] {
		n, _ := strconv.ParseFloat(text, 64) // "" is 0
		degrees += n * unit
		unit /= 60
	}
	switch strings.ToUpper(parts[0] + parts[5]) {
	case "N":
		of = RoleLatitude
	case "S":
		degrees, of = -degrees, RoleLatitude
	case "E":
		of = RoleLongitude
	case "W":
		degrees, of = -degrees, RoleLongitude
	}
	if parts[1] == "-" || parts[1] == "−" {
		degrees = -degrees
	}
	return degrees, of
}

// IsPoint reports whether a value has both coordinates of a point, such as 40.446, -79.982 or 40°26′46″N 79°58′56″W.
func IsPoint(raw string) bool {
	latitude, longitude, ok := parsePair(strings.TrimSpace(raw))
	return ok && len(raw) <= maxDegrees && latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180
}

// Degrees returns the latitude or the longitude in a value of an attribute of type geo, by the role of the attribute:
// 40.446, 40°26′46″N, or one of a value with both. It reports whether there is one within range.
func Degrees(raw string, role Role) (degrees float64, ok bool) {
	degrees, ok = parseDegrees(raw, role)
	return degrees, ok && math.Abs(degrees) <= Attribute{Role: role}.degrees()
}
