// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
)

// openAPI builds the OpenAPI 3.1 document from the route table and its types.
func openAPI(table []route, version string) ([]byte, error) {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	registry.RegisterTypeAlias(reflect.TypeFor[match.Weight](), reflect.TypeFor[float64]()) // in bits
	registry.RegisterTypeAlias(reflect.TypeFor[entity.Answers](), reflect.TypeFor[[]entity.Answer]())
	registry.RegisterTypeAlias(reflect.TypeFor[match.Sum](), reflect.TypeFor[float64]())
	registry.RegisterTypeAlias(reflect.TypeFor[match.Outcome](), reflect.TypeFor[string]())
	registry.RegisterTypeAlias(reflect.TypeFor[rollup.Definition](), reflect.TypeFor[RollupDefinition]())
	unite(registry)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Locus", Version: version,
			Description: "Put records, read entities. 64-bit ids are strings, times are RFC 3339 in UTC. " +
				"Errors are application/problem+json with a stable code; outcome says whether the request may have taken effect. " +
				"Clients must ignore unknown fields.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Components: &huma.Components{Schemas: registry, SecuritySchemes: map[string]*huma.SecurityScheme{
			"token": {Type: "http", Scheme: "bearer",
				Description: "An API token, locus_tok_...; an installation without tokens takes every request"},
		}},
	}
	problemSchema := registry.Schema(reflect.TypeFor[Problem](), true, "")
	for i := range table {
		if table[i].name() == "" {
			return nil, fmt.Errorf("the operation %s %s has no name: add one to operations", table[i].method, table[i].path)
		}
		doc.AddOperation(operation(registry, problemSchema, &table[i]))
	}
	correct(registry)
	document, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write the openapi document: %w", err)
	}
	return append(document, '\n'), nil
}

// correct adjusts schemas that huma cannot derive: fields that are numbers in Go but strings in JSON by their tag, and
// lists of small numbers that are lists of texts in JSON. It also marks that answers may get more fields, while bodies
// are read strictly.
func correct(registry huma.Registry) {
	for name, schema := range registry.Map() {
		if !strings.HasSuffix(name, "Request") && name != "RecordInput" && name != "DecisionInput" && name != "HitInput" &&
			schema.AdditionalProperties == false {
			schema.AdditionalProperties = nil
		}
		t := registry.TypeFromRef("#/components/schemas/" + name)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			field, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := schema.Properties[field]; p != nil && p.ContentEncoding != "" {
				p.Type, p.ContentEncoding, p.Items = huma.TypeArray, "", text
			}
			if p := schema.Properties[field]; p != nil && option == "string" {
				p.Type, p.Format, p.Minimum = huma.TypeString, "", nil
			}
		}
	}
}

var pathParam = regexp.MustCompile(`\{(\w+)[.]*\}`)

// limitOf describes how a route treats a token that may write some sources only.
func limitOf(rt *route) string {
	switch {
	case rt.needs.LimitsSources():
		return "applied"
	case rt.needs.AdmitsLimited(access.Everything()):
		return "irrelevant"
	}
	return "refused"
}

// restrictedOf describes how a route treats a token that sees some kinds or attributes only.
func restrictedOf(rt *route) string {
	switch {
	case rt.needs.AdmitsNarrowed(&access.Restriction{Kinds: []string{}}):
		return "applied"
	case rt.needs.AdmitsNarrowed(&access.Restriction{}):
		return "attributes"
	}
	return "refused"
}

func operation(registry huma.Registry, problemSchema *huma.Schema, rt *route) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.name(), Method: rt.method, Path: rt.documented(), Summary: rt.summary,
		Responses: map[string]*huma.Response{}, Extensions: map[string]any{
			"x-locus-permission": rt.needs.String(), "x-locus-write-sources": limitOf(rt),
			"x-locus-restricted": restrictedOf(rt), "x-locus-repeatable": !once[rt.name()],
		},
	}
	if !rt.needs.Open() {
		op.Security = []map[string][]string{{"token": {}}}
	}
	for _, m := range pathParam.FindAllStringSubmatch(rt.path, -1) {
		op.Parameters = append(op.Parameters, parameter(param{m[1], "", true}, "path"))
	}
	for _, p := range rt.query {
		op.Parameters = append(op.Parameters, parameter(p, "query"))
	}
	if rt.class != health {
		op.Parameters = append(op.Parameters, parameter(param{timeoutHeader, "Whole seconds that the client waits for the response, 1 or more; the server also has a limit of its own", false}, "header"))
	}
	for _, p := range rt.headers {
		op.Parameters = append(op.Parameters, parameter(p, "header"))
	}
	if rt.body != nil {
		schema := registry.Schema(reflect.TypeOf(rt.body), true, "")
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{mediaJSON: {Schema: schema}}}
		if rt.yaml {
			op.RequestBody.Content[mediaYAML] = &huma.MediaType{Schema: schema}
		}
	}
	successes(op, registry, rt)
	for status, list := range byStatus(rt.failures) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: "code: " + strings.Join(list, ", "),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: problemSchema}},
			Extensions:  map[string]any{"x-locus-codes": list},
		}
	}
	return op
}

// successes describes the successful answers of a route.
func successes(op *huma.Operation, registry huma.Registry, rt *route) {
	statuses := rt.statuses
	if statuses == nil {
		statuses = []int{http.StatusOK}
	}
	for _, status := range statuses {
		ok := &huma.Response{Description: http.StatusText(status)}
		if p := contents[rt.name()]; p != nil {
			ok.Content = p.Content
		}
		if rt.answer != nil {
			media := mediaJSON
			if rt.stream != nil {
				media = mediaLines
				ok.Description = "A line for each step with type progress, then one with type result and these fields, or one with type error and those of a Problem"
			}
			ok.Content = map[string]*huma.MediaType{media: {Schema: registry.Schema(reflect.TypeOf(rt.answer), true, "")}}
		}
		switch {
		case rt.media != "":
			ok.Content = map[string]*huma.MediaType{rt.media: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
			ok.Headers = map[string]*huma.Param{
				WatermarkHeader: {Description: "Watermark of the dump", Schema: &huma.Schema{Type: huma.TypeString}},
				TotalsHeader: {Description: "The last line of the dump: the numbers of things in it",
					Schema: &huma.Schema{Type: huma.TypeString}},
			}
		case rt.download != nil:
			ok.Content = map[string]*huma.MediaType{mediaLines: {Schema: text}, mediaCSV: {Schema: text}}
			ok.Headers = map[string]*huma.Param{
				WatermarkHeader: {
					Description: "Watermark of the end of the logs before the first row: the since of the next export",
					Schema:      text,
				},
				ColumnsHeader: {Description: "The columns, as in a CSV header", Schema: text},
			}
		}
		if rt.csv {
			ok.Content[mediaCSV] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString,
				Description: "A row for each step: its time, a column for each counter and five for each gauge. Empty means null"}}
		}
		if rt.events != nil {
			ok.Content[mediaEvents] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: feedDoc}}
		}
		op.Responses[strconv.Itoa(status)] = ok
	}
}

// byStatus groups codes by status, including the codes that any route may return.
func byStatus(failures []Code) map[int][]string {
	always := []Code{CodeUnauthenticated, CodeForbidden, CodeMisdirected, CodeRateLimited, CodeTargetLength,
		CodeHeaderLength, CodeInternal, CodeDraining}
	grouped := map[int][]string{}
	for _, code := range slices.Concat(failures, always) {
		status := codes[code].status
		if !slices.Contains(grouped[status], string(code)) {
			grouped[status] = append(grouped[status], string(code))
		}
	}
	return grouped
}

// name returns the name of the operation in the document.
func (rt *route) name() string { return operations[rt.method+" "+rt.documented()] }

// documented returns the path as OpenAPI writes it.
func (rt *route) documented() string { return strings.ReplaceAll(rt.path, "...", "") }

// schemaName returns the name of a type, prefixed by its package if it is not this one: cells.Status is CellsStatus. A
// name that already contains its package is kept: cells.CellStatus is CellStatus.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[locus.Problem]() {
		return "SubFault" // Problem is the whole answer
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if pkg := path.Base(t.PkgPath()); t.PkgPath() != "" && pkg != "httpapi" {
		title := strings.ToUpper(pkg[:1]) + pkg[1:]
		if one, plural := strings.CutSuffix(title, "s"); plural && strings.HasPrefix(name, one) {
			return name
		}
		return title + name
	}
	return name
}

// Schema tells huma that a view is a JSON object, although it is a slice in Go.
func (View) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: r.Schema(reflect.TypeFor[ViewAttribute](), true, "")}
}

// Schema describes which values of attributes are accepted; answers always contain arrays.
func (Attributes) Schema(huma.Registry) *huma.Schema {
	scalar := []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeNumber}}
	return &huma.Schema{
		Type: huma.TypeObject, Description: "Values by attribute. Responses contain arrays of strings.",
		AdditionalProperties: &huma.Schema{
			AnyOf: append(slices.Clone(scalar), &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{AnyOf: scalar}}),
		},
	}
}
