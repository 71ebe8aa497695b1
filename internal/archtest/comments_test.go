// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// A doc comment begins with the name that it documents, possibly after an article, so that a comment left behind by a
// renaming is found.
func TestComments_BeginWithTheName(t *testing.T) {
	t.Parallel()
	products(t, func(s source) {
		check := func(doc *ast.CommentGroup, name string) {
			if doc == nil || !ast.IsExported(name) {
				return
			}
			text := doc.Text()
			for _, article := range []string{"A ", "An ", "The "} {
				text = strings.TrimPrefix(text, article)
			}
			if first, _, _ := strings.Cut(text, " "); strings.TrimRight(first, ",.:\n") != name {
				t.Errorf("%s: the comment of %s begins with %q", sourceSet.Position(doc.Pos()), name, first)
			}
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d.Doc, d.Name.Name)
			case *ast.GenDecl:
				if d.Tok == token.TYPE && !d.Lparen.IsValid() {
					check(d.Doc, d.Specs[0].(*ast.TypeSpec).Name.Name)
				}
			}
		}
	})
}
