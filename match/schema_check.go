// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/locus-db/locus/internal/definition"
	"github.com/locus-db/locus/internal/problem"
)

// Limits of a kind.
const (
	maxSources    = 4096
	maxSourceName = 255   // bytes
	maxHalfLife   = 36500 // days: a century
	maxWeight     = 20    // of a level, in either direction
	maxPrior      = 60    // bits below 0, more than any number of records needs
	maxAliases    = 200   // of an attribute
)

// InvalidError lists all problems of a kind. It is locus.InvalidError.
type InvalidError = problem.InvalidError

// Problem is one problem of a kind or of a record. It is locus.Problem.
type Problem = problem.Problem

// Validate checks a kind that was not parsed from YAML. The error is an *InvalidError.
func (s *Schema) Validate() error {
	if problems := s.problems(); len(problems) > 0 {
		return invalidKind(problems)
	}
	return nil
}

func invalidKind(problems []Problem) error {
	return &InvalidError{Problems: problems, Definition: "kind"}
}

var (
	// At most 64 letters are checked apart: {1,64} makes the expression 64 times as large, and each process compiles it.
	aliasForm = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{Lm}\p{N}_]+$`)
	nameForm  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	types     = []string{"name", "phone", "address", "geo", "url", "email", "category", "people", "text", "number", "date", "id"}
	styles    = []string{"business", "person", "title"}
	scopes    = []string{"source", "world"}
	// rolesOf are the roles of a type; other types have none.
	rolesOf = map[Type][]string{
		TypeText: {"locality", "postcode", "region", "country", "variant", "note"},
		TypeGeo:  {"latitude", "longitude"},
		TypeName: {"given", "family"},
	}
)

type schemaCheck struct {
	schema   *Schema
	problems []Problem
}

func (c *schemaCheck) fail(pointer, format string, args ...any) {
	c.problems = append(c.problems, problem.New(pointer, "invalid", fmt.Sprintf(format, args...)))
}

// word checks that a word is in a list, or empty.
func (c *schemaCheck) word(pointer, word string, words []string) {
	if word != "" && !slices.Contains(words, word) {
		c.fail(pointer, "no such %s %q: there are %s%s", path.Base(pointer), problem.Clip(word), strings.Join(words, ", "), definition.Meant(word, words))
	}
}

func (s *Schema) problems() []Problem {
	c := &schemaCheck{schema: s}
	if !nameForm.MatchString(s.Kind) {
		c.fail("/kind", "want a name of a-z, 0-9 and _ that begins with a letter and has at most 64, not %q", problem.Clip(s.Kind))
	}
	if s.Version < 1 || s.Version > math.MaxInt32 {
		c.fail("/version", "want a whole number from 1; a change of the kind takes the next one")
	}
	if len(s.Attributes) > MaxAttributes {
		c.fail("/attributes", "a kind has at most %d attributes, this one has %d", MaxAttributes, len(s.Attributes))
	}
	meets := false
	for i := range s.Attributes {
		a := &s.Attributes[i]
		c.attribute(a)
		meets = meets || meetsBy(a.Type)
	}
	if !meets {
		c.fail("/attributes", "records are compared by name, phone, address, url, email or id: declare one of these")
	}
	c.together()
	c.sources()
	c.weights()
	return c.problems
}

// meetsBy reports whether a type has blocking keys.
func meetsBy(t Type) bool {
	switch t {
	case TypeName, TypePhone, TypeAddress, TypeURL, TypeEmail, TypeID:
		return true
	}
	return false
}

func (c *schemaCheck) attribute(a *Attribute) {
	at := problem.Pointer("attributes", a.Name)
	if !nameForm.MatchString(a.Name) {
		c.fail(at, "want a name of a-z, 0-9 and _ that begins with a letter and has at most 64, not %q", problem.Clip(a.Name))
	}
	if a.Type == "" {
		c.fail(at, "has no type: there are %s", strings.Join(types, ", "))
		return
	}
	c.word(at+"/type", string(a.Type), types)
	c.word(at+"/style", string(a.Style), styles)
	c.word(at+"/scope", string(a.Scope), scopes)
	switch roles := rolesOf[a.Type]; {
	case a.Role != "" && len(roles) == 0:
		c.fail(at+"/role", "an attribute of type %s has no role", problem.Clip(string(a.Type)))
	case a.Type == TypeGeo && a.Role == "":
		c.fail(at, "an attribute of type geo has role latitude or longitude")
	default:
		c.word(at+"/role", string(a.Role), roles)
	}
	if a.Style != "" && a.Type != TypeName {
		c.fail(at+"/style", "only an attribute of type name has a style")
	}
	if a.Scope != "" && a.Type != TypeID {
		c.fail(at+"/scope", "only an attribute of type id has a scope")
	}
	if a.Many && (a.Type == TypeGeo || a.Role != "") {
		c.fail(at+"/many", "an attribute with a role has a single value")
	}
	if a.HalfLife < 0 || a.HalfLife > maxHalfLife {
		c.fail(at+"/half_life", "want days from 1 to %d", maxHalfLife)
	}
	c.aliases(at, a.Aliases)
	if a.Region == "" {
		return
	}
	of, ok := c.schema.Attribute(a.Region)
	switch {
	case a.Type != TypePhone:
		c.fail(at+"/region", "only an attribute of type phone has a region")
	case !ok:
		c.fail(at+"/region", "there is no attribute %q: name the one that holds the country%s", problem.Clip(a.Region), definition.Meant(a.Region, c.names()))
	case of.Type != TypeText && of.Type != TypeCategory:
		c.fail(at+"/region", "%q is of type %s: name one of type text or category that holds the country", of.Name, problem.Clip(string(of.Type)))
	}
}

// aliases checks the form of aliases. Two attributes may have the same alias; the import then asks which one a column
// means.
func (c *schemaCheck) aliases(at string, aliases []string) {
	if len(aliases) > maxAliases {
		c.fail(at+"/aliases", "an attribute has at most %d aliases, this one has %d", maxAliases, len(aliases))
	}
	for _, alias := range aliases {
		if !aliasForm.MatchString(alias) || utf8.RuneCountInString(alias) > 64 || hasAccents(alias) {
			c.fail(at+"/aliases", "want names of letters, digits and _, without accents and capitals, not %q", problem.Clip(alias))
			return
		}
	}
}

// hasAccents reports whether a text has letters with accents. In scripts other than these, a mark that looks like an
// accent makes a different letter.
func hasAccents(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= utf8.RuneSelf && unicode.In(r, unicode.Latin, unicode.Greek) && norm.NFD.String(string(r)) != string(r)
	})
}

func (c *schemaCheck) names() []string {
	names := make([]string, len(c.schema.Attributes))
	for i, a := range c.schema.Attributes {
		names[i] = a.Name
	}
	return names
}

// together checks attributes against each other.
func (c *schemaCheck) together() {
	names, roles := map[string]bool{}, map[Role]string{}
	plain := "" // the name without a role
	var first *Attribute
	for i := range c.schema.Attributes {
		a := &c.schema.Attributes[i]
		at := problem.Pointer("attributes", a.Name)
		if names[a.Name] {
			c.fail(at, "is given twice: remove one of the two")
		}
		names[a.Name] = true
		if other := roles[a.Role]; a.Role != "" && a.Role != RoleNote && a.Role != RoleVariant && other != "" {
			c.fail(at+"/role", "%q is the %s already: a kind has one", other, problem.Clip(string(a.Role)))
		} else if slices.Contains(rolesOf[a.Type], string(a.Role)) {
			roles[a.Role] = a.Name
		}
		if a.Type != TypeName {
			continue
		}
		switch style := c.schema.Style(); {
		case a.Role != "" && style != StylePerson:
			c.fail(at+"/role", "only names of style person have the roles given and family: add \"style: person\"")
		case first != nil && a.Style != "" && a.Style != style:
			c.fail(at+"/style", "%q has style %s: a kind has one style", first.Name, style)
		}
		if a.Role == "" && plain != "" {
			c.fail(at, "%q is the name already: a kind has one; declare other names as text", plain)
		} else if a.Role == "" {
			plain = a.Name
		}
		if first == nil {
			first = a
		}
	}
	if (roles[RoleLatitude] == "") != (roles[RoleLongitude] == "") {
		at := problem.Pointer("attributes", roles[RoleLatitude]+roles[RoleLongitude])
		c.fail(at, "latitude and longitude go together: declare both")
	}
}

func (c *schemaCheck) sources() {
	s := c.schema
	if len(s.Sources) > maxSources {
		c.fail("/sources", "a kind names at most %d sources, this one names %d", maxSources, len(s.Sources))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sources)) {
		at, source := problem.Pointer("sources", name), s.Sources[name]
		if name == "" || len(name) > maxSourceName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			c.fail(at, "want the name of a source, at most %d bytes, without control characters", maxSourceName)
		}
		c.trust(at+"/trust", source.Trust)
		for _, attribute := range slices.Sorted(maps.Keys(source.Attributes)) {
			if _, ok := s.Attribute(attribute); !ok {
				c.fail(at+problem.Pointer("attributes", attribute), "there is no such attribute%s", definition.Meant(attribute, c.names()))
			}
			c.trust(at+problem.Pointer("attributes", attribute), source.Attributes[attribute])
		}
	}
}

func (c *schemaCheck) trust(pointer string, trust float64) {
	if !(trust >= 0 && trust <= 1) {
		c.fail(pointer, "want a number above 0, up to 1")
	}
}

// weights checks that the overridden lines and levels exist.
func (c *schemaCheck) weights() {
	if p := c.schema.Prior; p < -100*maxPrior || p > 0 {
		c.fail("/prior", "want bits from %d to 0", -maxPrior)
	}
	style := c.schema.Style()
	for _, line := range slices.Sorted(maps.Keys(c.schema.Weights)) {
		at := problem.Pointer("weights", line)
		f := style.fieldNamed(line)
		if f == fieldCount || f == fieldSource || f == fieldRelation {
			lines := style.fieldNames()
			c.fail(at, "no such line: there are %s%s", strings.Join(lines, ", "), definition.Meant(line, lines))
			continue
		}
		words := style.levelWords(f)
		for _, level := range slices.Sorted(maps.Keys(c.schema.Weights[line])) {
			if !slices.Contains(words, level) {
				c.fail(at+problem.Pointer(level), "no such level: there are %s%s", quoteAll(words), definition.Meant(level, words))
			}
			if w := c.schema.Weights[line][level]; w < -100*maxWeight || w > 100*maxWeight {
				c.fail(at+problem.Pointer(level), "want bits from %d to %d", -maxWeight, maxWeight)
			}
		}
	}
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(quoted, ", ")
}
