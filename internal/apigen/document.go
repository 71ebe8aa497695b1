// SPDX-License-Identifier: Apache-2.0

package apigen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// API is the part of the document that the clients are generated from.
type API struct {
	Operations []*Operation // by name
	Schemas    []*Named     // that operations use, by name
}

// Operation is a method of the clients.
type Operation struct {
	Name, Method, URL, Summary string
	Repeatable                 bool
	Path, Query, Header        []Param // parameters of the path in its order, of the query with required ones first
	Body, Answer               *Schema // nil for none
	Result                     Result
	Page                       *Page // nil if the answer is not a page
}

// Result is the form of an answer.
type Result int

// Results.
const (
	Nothing  Result = iota
	Value           // JSON
	Lines           // JSON lines of progress, the last of which has the value
	Download        // bytes or text, read as they come
)

// Page names the parameter and the field that lead from page to page, and the items.
type Page struct {
	Name, Param, Next, Items string
	Item                     *Schema
}

// Param is a parameter of a query or a header.
type Param struct {
	Name, Doc string
	Required  bool
	Schema    *Schema
}

// Named is a schema of the document with its name.
type Named struct {
	Name   string
	Fields []Field
	Strict bool // a body whose every field is known
}

// Field is a property of an object.
type Field struct {
	Name     string
	Required bool
	Schema   *Schema
}

// Schema is a type of JSON.
type Schema struct {
	Type     string // of JSON; "" for a reference or anything
	Format   string
	Ref      string
	Nullable bool
	Doc      string
	Items    *Schema // of an array
	Values   *Schema // of an object with any names
}

// source is a schema in the document.
type source struct {
	Type        any
	Format      string
	Ref         string `json:"$ref"`
	Description string
	Items       *source
	Properties  map[string]*source
	Additional  json.RawMessage `json:"additionalProperties"`
	Required    []string
}

type content map[string]struct{ Schema *source }

type document struct {
	Paths map[string]map[string]struct {
		OperationID, Summary string
		Repeatable           bool `json:"x-locus-repeatable"`
		Parameters           []struct {
			Name, In, Description string
			Required              bool
			Schema                *source
		}
		RequestBody struct{ Content content }
		Responses   map[string]struct{ Content content }
	}
	Components struct{ Schemas map[string]*source }
}

// Read reads the document. POST /mcp is left out: it is called by the libraries of its own protocol.
func Read(text []byte) (*API, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	api := &API{}
	for path, methods := range doc.Paths {
		if path == "/mcp" {
			continue
		}
		for method, from := range methods {
			op := &Operation{Name: from.OperationID, Method: strings.ToUpper(method), URL: path, Summary: from.Summary,
				Repeatable: from.Repeatable}
			for _, p := range from.Parameters {
				param := Param{p.Name, p.Description, p.Required, p.Schema.schema()}
				switch {
				case p.In == "path":
					op.Path = append(op.Path, param)
				case p.In == "query":
					op.Query = append(op.Query, param)
				case p.In == "header" && p.Name != "Request-Timeout": // follows from the time that a call may take
					op.Header = append(op.Header, param)
				}
			}
			slices.SortStableFunc(op.Query, func(a, b Param) int { return cmp.Compare(rank(a), rank(b)) })
			if body, ok := from.RequestBody.Content["application/json"]; ok {
				op.Body = body.Schema.schema()
			}
			for status, r := range from.Responses {
				if status < "300" && len(r.Content) > 0 {
					op.result(r.Content)
				}
			}
			if op.Answer != nil {
				op.page(doc.Components.Schemas[op.Answer.Ref])
			}
			api.Operations = append(api.Operations, op)
		}
	}
	slices.SortFunc(api.Operations, func(a, b *Operation) int { return cmp.Compare(a.Name, b.Name) })
	api.collect(doc.Components.Schemas)
	return api, nil
}

func rank(p Param) int {
	if p.Required {
		return 0
	}
	return 1
}

// result reads the form of a successful answer.
func (op *Operation) result(c content) {
	if value, ok := c["application/json"]; ok {
		op.Result, op.Answer = Value, value.Schema.schema()
		return
	}
	op.Result = Download
	if lines, ok := c["application/jsonl"]; ok && lines.Schema.Ref != "" {
		op.Result, op.Answer = Lines, lines.Schema.schema()
	}
}

// page finds out whether an answer is a page that names the next one.
func (op *Operation) page(answer *source) {
	name, is := strings.CutPrefix(op.Name, "list")
	if answer == nil || !is {
		return
	}
	for param, next := range map[string]string{"cursor": "cursor", "after": "next"} {
		if !slices.ContainsFunc(op.Query, func(p Param) bool { return p.Name == param }) || answer.Properties[next] == nil || slices.Contains(answer.Required, next) {
			continue
		}
		for _, items := range slices.Sorted(maps.Keys(answer.Properties)) {
			if of := answer.Properties[items].Items; of != nil && of.Ref != "" && slices.Contains(answer.Required, items) {
				op.Page = &Page{"all" + name, param, next, items, of.schema()}
			}
		}
	}
}

// collect keeps the schemas that operations use, and the schemas that these use. SubFault is part of every error.
func (api *API) collect(all map[string]*source) {
	used := map[string]*Named{}
	var use func(s *Schema)
	use = func(s *Schema) {
		if s == nil {
			return
		}
		use(s.Items)
		use(s.Values)
		if s.Ref == "" || used[s.Ref] != nil {
			return
		}
		from := all[s.Ref]
		named := &Named{Name: s.Ref, Strict: string(from.Additional) == "false"}
		used[s.Ref] = named
		for _, name := range slices.Sorted(maps.Keys(from.Properties)) {
			field := Field{name, slices.Contains(from.Required, name), from.Properties[name].schema()}
			named.Fields = append(named.Fields, field)
			use(field.Schema)
		}
	}
	for _, op := range api.Operations {
		use(op.Body)
		use(op.Answer)
	}
	use(&Schema{Ref: "SubFault"})
	for _, name := range slices.Sorted(maps.Keys(used)) {
		api.Schemas = append(api.Schemas, used[name])
	}
}

func (s *source) schema() *Schema {
	if s == nil {
		return nil
	}
	out := &Schema{Format: s.Format, Doc: s.Description, Ref: strings.TrimPrefix(s.Ref, "#/components/schemas/"),
		Items: s.Items.schema()}
	switch t := s.Type.(type) {
	case string:
		out.Type = t
	case []any:
		out.Type, _ = t[0].(string)
		out.Nullable = true
	}
	var values source
	if len(s.Additional) > 0 && json.Unmarshal(s.Additional, &values) == nil {
		out.Values = values.schema()
	}
	return out
}

// words divides a name: entity_id, minWatermark and Idempotency-Key have two.
func words(name string) []string {
	return strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(divide.ReplaceAllString(name, "$1 $2")))
}

var divide = regexp.MustCompile(`([a-z0-9])([A-Z])`)
