// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// ids gives headings the anchors that GitHub gives them, so that links work in both places.
type ids struct{ seen map[string]int }

// Generate implements parser.IDs.
func (s *ids) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	n := s.seen[slug]
	s.seen[slug]++
	if n > 0 {
		slug += "-" + strconv.Itoa(n)
	}
	return []byte(slug)
}

// Put implements parser.IDs.
func (s *ids) Put(value []byte) { s.seen[string(value)]++ }
