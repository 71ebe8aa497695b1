// SPDX-License-Identifier: Apache-2.0

package bulk

import "slices"

// elements are the types of elements of OpenStreetMap, of which each type has ids of its own. geometries are these and
// the types of GeoJSON (RFC 7946): they describe how a thing is drawn on a map, not what it is.
var (
	elements   = nameSet("node way relation")
	geometries = nameSet(`node way relation Feature FeatureCollection Point MultiPoint LineString MultiLineString Polygon
		MultiPolygon GeometryCollection`)
)

// areAll reports whether a column has values, all of them from a set.
func areAll(set map[string]bool, values []string) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !set[v] })
}

// elementType returns the name of the column with the type of an element of OpenStreetMap, if the ids in a column are
// those of elements; "" if they are not.
func (r *recognition) elementType(id string) string {
	for _, c := range r.columns {
		if plainName(id) == "id" && c.plain == "type" && len(c.values) == r.rows && areAll(elements, c.values) {
			return c.name
		}
	}
	return ""
}
