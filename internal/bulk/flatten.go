// SPDX-License-Identifier: Apache-2.0

package bulk

import "github.com/locus-db/locus/internal/strictjson"

// flatten calls add for every value of an object, with its path: location.city for an object in an object,
// contacts[].email for a list of objects, and phones for each value of a list. Numbers and booleans stay as written,
// null is absent. The point of a GeoJSON feature has geometry.longitude and geometry.latitude.
func flatten(prefix string, object strictjson.Value, add func(path, value string)) {
	for name, value := range object.Members() {
		if prefix == "" && (name == "type" || name == "geometry") {
			if place := pointOf(object); place != nil {
				if name == "geometry" {
					add("geometry.longitude", place[0])
					add("geometry.latitude", place[1])
				}
				continue
			}
		}
		if prefix != "" {
			name = prefix + "." + name
		}
		flattenValue(name, value, false, add)
	}
}

// pointOf returns the coordinates of a GeoJSON feature that is a point (RFC 7946), nil for any other object.
func pointOf(object strictjson.Value) (coordinates []string) {
	member := func(of strictjson.Value, name string) (found strictjson.Value) {
		for n, value := range of.Members() {
			if n == name {
				return value
			}
		}
		return found
	}
	is := func(v strictjson.Value, text string) bool { return v.Kind() == strictjson.String && v.Text() == text }
	if !is(member(object, "type"), "Feature") {
		return nil
	}
	geometry := member(object, "geometry")
	if geometry.Kind() != strictjson.Object || !is(member(geometry, "type"), "Point") {
		return nil
	}
	list := member(geometry, "coordinates")
	if list.Kind() != strictjson.Array {
		return nil
	}
	for _, n := range list.Items() {
		if n.Kind() != strictjson.Number {
			return nil
		}
		coordinates = append(coordinates, n.Number())
	}
	if len(coordinates) < 2 {
		return nil
	}
	return coordinates[:2]
}

func flattenValue(path string, value strictjson.Value, inList bool, add func(path, value string)) {
	switch value.Kind() {
	case strictjson.Object:
		if inList {
			path += "[]"
		}
		flatten(path, value, add)
	case strictjson.Array:
		if inList {
			path += "[]"
		}
		for _, item := range value.Items() {
			flattenValue(path, item, true, add)
		}
	case strictjson.String:
		add(path, value.Text())
	case strictjson.Number:
		add(path, value.Number())
	case strictjson.Null:
	default:
		add(path, string(value.Raw()))
	}
}

// shape is the form of a JSON object.
type shape int

const (
	flat    shape = iota // a row: attributes on the same level as source and key
	printed              // a record as printed by locus record list --json, with the attributes in an object
	summary              // the last line of a list
	other                // another line of a list: an entity, a change
)

// shapeOf returns the shape of an object. A printed record has an object under "attributes", next to its source and its
// key. A summary has only a count and a cursor. Other printed lines have a field that only Locus sets.
func shapeOf(object strictjson.Value) shape {
	kind, attributes, more, ours, key := "", false, false, false, false
	for name, value := range object.Members() {
		switch name {
		case "type":
			if value.Kind() == strictjson.String {
				kind = value.Text()
			}
		case "count", "cursor":
		case "attributes":
			attributes = value.Kind() == strictjson.Object
			more = true
		default:
			key = key || name == ColumnKey || name == ColumnSource
			ours = ours || name == "stamp" || name == "seq" || name == "puid"
			more = true
		}
	}
	switch {
	case attributes && key:
		return printed
	case kind == "summary" && !more:
		return summary
	case kind == "result" && ours:
		return other
	}
	return flat
}

// unwrapped extracts the row from a line of a file of rejected rows.
func unwrapped(object strictjson.Value) (row strictjson.Value, wrapped bool) {
	reason := false
	for name, value := range object.Members() {
		switch name {
		case "row":
			row, wrapped = value, true
		case "reason":
			reason = true
		case "line", "lines", "code", "pointer", "text":
		default:
			return row, false
		}
	}
	return row, wrapped && reason
}
