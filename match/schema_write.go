// SPDX-License-Identifier: Apache-2.0

package match

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// YAML returns the kind as text for ParseSchema. Equal kinds give equal text: defaults are omitted, sources and weights
// are ordered by name, attributes keep their order, which is also the order of a merged view.
func (s *Schema) YAML() []byte {
	var w strings.Builder
	w.WriteString("kind: " + yamlText(s.Kind) + "\nversion: " + strconv.Itoa(s.Version) + "\nattributes:\n")
	for _, a := range s.Attributes {
		w.WriteString("  " + yamlText(a.Name) + ": " + a.yaml() + "\n")
	}
	section := func(title string, names []string, one func(name string) string) {
		lines := 0
		for _, name := range names {
			text := one(name)
			if text == "" {
				continue
			}
			if lines++; lines == 1 {
				w.WriteString(title + ":\n")
			}
			w.WriteString("  " + yamlText(name) + ": " + text + "\n")
		}
	}
	section("sources", slices.Sorted(maps.Keys(s.Sources)), func(name string) string { return s.Sources[name].yaml() })
	if s.Prior != 0 {
		w.WriteString("prior: " + yamlNumber(float64(s.Prior)/100) + "\n")
	}
	section("weights", slices.Sorted(maps.Keys(s.Weights)), func(name string) string {
		levels := s.Weights[name]
		var f flow
		for _, level := range slices.Sorted(maps.Keys(levels)) {
			f.add(yamlText(level), yamlNumber(float64(levels[level])/100))
		}
		return f.String()
	})
	return []byte(w.String())
}

// Hash identifies the kind: equal kinds give an equal hash on every machine. Aliases are left out, since records do not
// depend on them.
func (s *Schema) Hash() uint64 {
	bare := *s
	bare.Attributes = slices.Clone(s.Attributes)
	for i := range bare.Attributes {
		bare.Attributes[i].Aliases = nil
	}
	return xxhash.Sum64(bare.YAML())
}

func (a Attribute) yaml() string {
	var f flow
	f.add("type", yamlText(string(a.Type)))
	for _, word := range []struct{ name, value, unsaid string }{
		{"role", string(a.Role), ""},
		{"style", string(a.Style), string(StyleBusiness)},
		{"scope", string(a.Scope), string(ScopeSource)},
		{"region", a.Region, ""},
	} {
		if word.value != "" && word.value != word.unsaid {
			f.add(word.name, yamlText(word.value))
		}
	}
	if a.HalfLife > 0 {
		f.add("half_life", strconv.Itoa(a.HalfLife))
	}
	f.truth("many", a.Many)
	f.truth("required", a.Required)
	f.truth("tag", a.Tag)
	f.truth("dimension", a.Dimension)
	if len(a.Aliases) > 0 {
		aliases := make([]string, len(a.Aliases))
		for i, alias := range a.Aliases {
			aliases[i] = yamlText(alias)
		}
		f.add("aliases", "["+strings.Join(aliases, ", ")+"]")
	}
	return f.String()
}

// yaml returns "" for a source without declared properties.
func (s Source) yaml() string {
	var f, attributes flow
	if s.Trust > 0 && s.Trust != DefaultTrust {
		f.add("trust", yamlNumber(s.Trust))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		if s.Attributes[name] > 0 {
			attributes.add(yamlText(name), yamlNumber(s.Attributes[name]))
		}
	}
	if text := attributes.String(); text != "" {
		f.add("attributes", text)
	}
	f.truth("deduplicated", s.Deduplicated)
	return f.String()
}

// flow is a mapping on one line.
type flow []string

func (f *flow) add(name, value string) { *f = append(*f, name+": "+value) }

func (f *flow) truth(name string, said bool) {
	if said {
		f.add(name, "true")
	}
}

// String returns "" for an empty mapping.
func (f flow) String() string {
	if len(f) == 0 {
		return ""
	}
	return "{ " + strings.Join(f, ", ") + " }"
}

func yamlNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

var yamlWords = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

// yamlPlain reports whether YAML takes s for a text without quotes: words of letters, digits and _, with single
// separators, of which the first begins with a letter. An expression would take most of the time of YAML.
func yamlPlain(s string) bool {
	separated := true
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && ('0' <= c && c <= '9' || c == '_'):
			separated = false
		case !separated && (c == ' ' || c == '.' || c == '-'):
			separated = true
		default:
			return false
		}
	}
	return !separated && !slices.ContainsFunc(yamlWords, func(word string) bool { return strings.EqualFold(word, s) })
}

// yamlText writes a plain word as it is and everything else as a JSON string, which is valid YAML.
func yamlText(s string) string {
	if yamlPlain(s) {
		return s
	}
	quoted, _ := json.Marshal(s) // strings can always be encoded
	return string(quoted)
}
