// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/strictjson"
)

// sampleJSON returns the columns of the rows of a sample.
func (p *Plan) sampleJSON(text []byte, whole bool) (columns []sampled, rows int, err error) {
	var d documents = lineDocuments{&lines{r: readerOf(text), encoding: UTF8}}
	if p.Format == JSON {
		r := &Reader{}
		if err := p.start(r, &lines{r: readerOf(text)}, nil); err != nil {
			return nil, 0, err
		}
		d = r.rows.(*jsonRows).documents //nolint:forcetypeassert // start has just made it
	}
	index := map[string]int{}
	var last strictjson.Value
	for rows < sampleRows {
		doc, err := d.next()
		if err != nil {
			break // the end, or damage that the reading reports
		}
		object, err := strictjson.Parse(bytes.Clone(doc.text))
		if err != nil || object.Kind() != strictjson.Object {
			continue
		}
		if inner, wrapped := unwrapped(object); wrapped {
			if object = inner; object.Kind() != strictjson.Object {
				continue
			}
		}
		is := shapeOf(object)
		if is == summary || is == other {
			continue
		}
		rows++
		last = object
		seen := map[string]bool{}
		eachCell(object, is == printed, func(path, value string) {
			i, known := index[path]
			if !known {
				if len(columns) == maxNames {
					return
				}
				i = len(columns)
				index[path], columns = i, append(columns, sampled{name: path})
			}
			if !seen[path] {
				seen[path] = true
				columns[i].rows++
			}
			if isValue(value, p.options.Null) && len(columns[i].values) < sampleRows {
				columns[i].values = append(columns[i].values, value)
			}
		})
	}
	known := slices.ContainsFunc(p.options.Key, func(key string) bool { _, ok := index[key]; return ok }) ||
		slices.ContainsFunc(p.options.Set, func(a Assignment) bool {
			return slices.ContainsFunc(columns, func(c sampled) bool { return strings.Contains(c.name, "[]") && strings.Contains(a.Expression, c.name) })
		})
	if p.Rows != "" || rows > 1 || p.options.Exact || known {
		return columns, rows, nil
	}
	paths := rowsIn(text, last, whole)
	if len(paths) == 1 && (isMap(last) && paths[0] == "features" || !isRecord(columns, paths[0])) {
		p.Format, p.Rows, p.FormatGuessed = JSON, paths[0], true
		return p.sampleJSON(text, whole)
	}
	p.askRows(paths)
	if len(paths) == 0 {
		p.askMembers(last)
	}
	return columns, rows, nil
}

// askMembers asks about an object whose members look like rows, as in exports of document databases, or like columns,
// as written by data frame libraries. Its member names would then be keys or column names, but the object may also be a
// record.
func (p *Plan) askMembers(only strictjson.Value) {
	if only.Kind() != strictjson.Object {
		return
	}
	var first []string
	members, lists := 0, true
	for _, value := range only.Members() {
		var names []string
		switch value.Kind() {
		case strictjson.Object:
			for name := range value.Members() {
				names = append(names, name)
			}
		case strictjson.Array:
			for i := range value.Items() {
				names = append(names, strconv.Itoa(i))
			}
		default:
			return
		}
		if members++; members == 1 {
			first = names
		}
		same := 0
		for i, name := range names {
			if slices.Contains(first, name) {
				same++
			}
			lists = lists && name == strconv.Itoa(i)
		}
		if 2*same < len(names) || len(names) == 0 || lists && len(names) != len(first) {
			return
		}
	}
	switch {
	case lists && members > 1 && len(first) > 1:
		p.ask("the file is one JSON object, and its members look like columns", "jq -c '(.[keys[0]] | keys_unsorted[]) as $i | map_values(.[$i])' "+p.Name+" | locus ingest --source NAME -")
	case !lists && members > 2 && len(first) > 1:
		p.ask("the file is one JSON object, and its members look like rows", "jq -c 'to_entries[] | {key} + .value' "+p.Name+" | locus ingest --source NAME -")
	}
}

// rowsIn returns the paths of the lists of objects in a document that is the only one, the longest first.
func rowsIn(text []byte, only strictjson.Value, whole bool) []string {
	switch {
	case only.Kind() == strictjson.Object && len(only.Raw()) > 0:
		lists := listsIn("", only)
		slices.SortStableFunc(lists, func(a, b listAt) int { return b.objects - a.objects })
		var paths []string
		for _, l := range lists {
			paths = append(paths, l.path)
		}
		return paths
	case !whole && len(bytes.TrimSpace(text)) > 0 && bytes.TrimSpace(text)[0] == '{':
		return listsAhead(text)
	}
	return nil
}

// isRecord reports whether an object is a record itself: it has a name or a key outside of the list.
func isRecord(columns []sampled, list string) bool {
	return slices.ContainsFunc(columns, func(c sampled) bool {
		plain := plainName(c.name)
		return !strings.HasPrefix(c.name, list+"[]") && (keyRank(plain) > 0 || plain == ColumnKey || plain == "name")
	})
}

// isMap reports whether an object is a GeoJSON file, which may have a name.
func isMap(only strictjson.Value) bool {
	if only.Kind() == strictjson.Object {
		for name, value := range only.Members() {
			if name == "type" && value.Kind() == strictjson.String {
				return value.Text() == "FeatureCollection"
			}
		}
	}
	return false
}

// askRows asks for the path to the rows.
func (p *Plan) askRows(paths []string) {
	if len(paths) == 0 {
		return
	}
	p.Questions = append(p.Questions, Question{
		Text: "the file is one JSON object, with a list of objects in " + strings.Join(paths, " and in "),
		Hint: "--rows " + paths[0] + " reads the elements of the list as rows",
	})
}

// listAt is a list of objects in a document.
type listAt struct {
	path    string
	objects int
}

// listsIn returns the lists of more than one object.
func listsIn(prefix string, object strictjson.Value) (lists []listAt) {
	for name, value := range object.Members() {
		path := strings.TrimPrefix(prefix+"."+name, ".")
		switch value.Kind() {
		case strictjson.Object:
			lists = append(lists, listsIn(path, value)...)
		case strictjson.Array:
			objects := 0
			for _, item := range value.Items() {
				if item.Kind() == strictjson.Object {
					objects++
				}
			}
			if objects > 1 {
				lists = append(lists, listAt{path, objects})
			}
		case strictjson.Null, strictjson.Bool, strictjson.Number, strictjson.String:
		}
	}
	return lists
}

// listsAhead returns the path of the first list of objects of a document that is longer than the sample.
func listsAhead(text []byte) []string {
	s := &jsonScanner{r: bufio.NewReader(bytes.NewReader(text)), line: 1}
	var path []string
	for {
		b, err := s.space()
		if err != nil {
			return nil
		}
		switch b {
		case '{':
			s.drop()
			path = append(path, "")
		case '}':
			s.drop()
			path = path[:max(len(path)-1, 0)]
		case '[':
			s.drop()
			if b, err := s.space(); err == nil && b == '{' && len(path) > 0 {
				return []string{strings.Join(path, ".")}
			}
		case '"':
			d, err := s.value()
			if err != nil {
				return nil
			}
			if b, err := s.space(); err == nil && b == ':' && len(path) > 0 {
				path[len(path)-1] = strings.Trim(string(d.text), `"`)
			}
		default:
			s.drop()
		}
	}
}
