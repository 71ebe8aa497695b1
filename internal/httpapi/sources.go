// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/sources"
)

// SourceList is the answer to GET /v1/sources.
type SourceList struct {
	Sources []Source `json:"sources"`
}

// Source is a source with live records, or with a stream.
type Source struct {
	Source  string       `json:"source"`
	Records int64        `json:"records" doc:"Number of live records"`
	Created int64        `json:"created" doc:"Number of records that created their entities; the others matched one"`
	Newest  time.Time    `json:"newest" doc:"Newest observed_at of a live record"`
	Kinds   []SourceKind `json:"kinds" doc:"The same by kind, in the order of their names"`
	// Import is the last one that was reported.
	Import *sources.Import `json:"import,omitempty" doc:"The last import of a file or a table; missing without one"`
	Stream *Stream         `json:"stream,omitempty" doc:"The stream that the servers read the source from; missing without one"`
}

// SourceKind counts the records of one kind.
type SourceKind struct {
	Kind    string    `json:"kind"`
	Records int64     `json:"records"`
	Created int64     `json:"created"`
	Newest  time.Time `json:"newest"`
}

func oneSource(s *records.Source) Source {
	of := Source{Source: s.Name, Records: s.Records, Created: s.Created, Newest: s.Newest}
	for _, k := range s.Kinds {
		of.Kinds = append(of.Kinds, SourceKind{k.Kind, k.Records, k.Created, k.Newest})
	}
	return of
}

func (s *Server) listSources(c *call) (any, error) {
	all, err := s.svc.Records().Sources(c)
	if err != nil {
		return nil, err
	}
	streams, err := s.svc.Sources().List(c)
	if err != nil {
		return nil, err
	}
	imports, err := s.svc.Sources().Imports(c)
	if err != nil {
		return nil, err
	}
	list := SourceList{Sources: make([]Source, 0, len(all))}
	for i := range all {
		list.Sources = append(list.Sources, oneSource(&all[i]))
	}
	named := func(name string) *Source {
		at, found := slices.BinarySearchFunc(list.Sources, name, func(s Source, name string) int {
			return strings.Compare(s.Source, name)
		})
		if !found {
			list.Sources = slices.Insert(list.Sources, at, Source{Source: name, Kinds: []SourceKind{}})
		}
		return &list.Sources[at]
	}
	for i := range streams {
		named(streams[i].Name).Stream = s.streamOf(&streams[i])
	}
	for name, last := range imports {
		if allRefused(last) {
			named(name)
		}
	}
	for i := range list.Sources {
		if last, known := imports[list.Sources[i].Source]; known {
			list.Sources[i].Import = &last
		}
	}
	return list, nil
}

// allRefused reports whether a source has an import that stored nothing, which is why it may have no records.
func allRefused(i sources.Import) bool { return i.Rows > 0 && i.Refused() == i.Rows }

func (s *Server) getSource(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	counted := true
	if _, given := c.query["count"]; given {
		if counted, err = c.query.flag("count"); err != nil {
			return nil, err
		}
	}
	stream, err := s.svc.Sources().Get(c, name)
	if err != nil && !errors.Is(err, sources.ErrNotFound) {
		return nil, err
	}
	imports, err := s.svc.Sources().Imports(c)
	if err != nil {
		return nil, err
	}
	last, imported := imports[name]
	one := Source{Source: name, Kinds: []SourceKind{}}
	if counted || stream == nil {
		of, err := s.svc.Records().Source(c, name)
		switch {
		case err == nil:
			one = oneSource(of)
		case stream == nil && !allRefused(last) || !errors.Is(err, locus.ErrNotFound):
			return nil, err
		}
	}
	if imported {
		one.Import = &last
	}
	if stream != nil {
		one.Stream = s.streamOf(stream)
	}
	return one, nil
}
