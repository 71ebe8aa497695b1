// SPDX-License-Identifier: Apache-2.0

package mutant_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A mutation changes one place of a file like a programming mistake.
type mutation struct {
	file string // from the root of the repository
	line int
	fn   string // the enclosing function
	// begin and end are the bytes of the file that text replaces. was is the original, possibly with context, for
	// display.
	begin, end int
	text       string
	was, is    string
	source     []byte // the whole file
}

// String identifies a mutation independently of line numbers.
func (m mutation) String() string {
	return fmt.Sprintf("%s %s: %s becomes %s", m.file, m.fn, m.was, m.is)
}

// apply returns the file with the mutation.
func (m mutation) apply() []byte {
	return slices.Concat(m.source[:m.begin], []byte(m.text), m.source[m.end:])
}

// swapped are the operators that replace each other.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// mutations returns all mutations of a file, in its order. Some do not compile, because types are not checked.
func mutations(file string, source []byte) ([]mutation, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	m := mutating{file: file, source: source, fset: fset}
	for _, decl := range tree.Decls {
		if fn, is := decl.(*ast.FuncDecl); is && fn.Body != nil {
			m.fn, m.fails = fn.Name.Name, fails(fn.Type)
			ast.Inspect(fn.Body, m.visit)
		}
	}
	slices.SortStableFunc(m.all, func(a, b mutation) int { return cmp.Compare(a.begin, b.begin) })
	return m.all, nil
}

// mutating walks through a file.
type mutating struct {
	file   string
	source []byte
	fset   *token.FileSet
	fn     string
	fails  bool // the last result of fn is an error
	all    []mutation
}

// fails reports whether the last result of a function is an error.
func fails(fn *ast.FuncType) bool {
	if fn.Results == nil {
		return false
	}
	last, is := fn.Results.List[len(fn.Results.List)-1].Type.(*ast.Ident)
	return is && last.Name == "error"
}

func (m *mutating) at(p token.Pos) int { return m.fset.Position(p).Offset }

// add adds a mutation of a part of a node, or all of it.
func (m *mutating) add(node ast.Node, begin, end token.Pos, text string) {
	from, to, b, e := m.at(node.Pos()), m.at(node.End()), m.at(begin), m.at(end)
	if _, short := node.(*ast.BasicLit); short { // a function may have several equal literals: the line distinguishes them
		from = bytes.LastIndexByte(m.source[:b], '\n') + 1
		to = e + bytes.IndexByte(m.source[e:], '\n')
	}
	was := string(m.source[from:to])
	is := was[:b-from] + text + was[e-from:]
	one := func(code string) string {
		if code = strings.Join(strings.Fields(code), " "); code == "" {
			code = "nothing"
		}
		return strconv.Quote(code)
	}
	m.all = append(m.all, mutation{
		file: m.file, line: m.fset.Position(begin).Line, fn: m.fn, begin: b, end: e, text: text, was: one(was), is: one(is),
		source: m.source,
	})
}

func (m *mutating) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		outer := m.fails
		m.fails = fails(n.Type)
		ast.Inspect(n.Body, m.visit)
		m.fails = outer
		return false
	case *ast.IfStmt:
		m.add(n.Cond, n.Cond.Pos(), n.Cond.End(), "!("+string(m.source[m.at(n.Cond.Pos()):m.at(n.Cond.End())])+")")
	case *ast.BinaryExpr:
		if other, is := swapped[n.Op]; is {
			m.add(n, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
			if n.Op == token.LAND || n.Op == token.LOR {
				m.add(n, n.X.End(), n.Y.End(), "")
				m.add(n, n.X.Pos(), n.Y.Pos(), "")
			}
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 10, 32); n.Kind == token.INT && err == nil {
			m.add(n, n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
		}
	case *ast.ExprStmt:
		m.add(n, n.Pos(), n.End(), "")
	case *ast.IncDecStmt:
		m.add(n, n.Pos(), n.End(), "")
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE {
			m.add(n, n.Pos(), n.End(), "")
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			break
		}
		if len(n.Lhs) == 1 && m.source[m.at(n.Lhs[0].Pos())] != '_' {
			m.add(n, n.Pos(), n.Rhs[0].Pos(), "_ = ")
		}
	case *ast.ReturnStmt:
		if k := len(n.Results); m.fails && k > 0 {
			last := n.Results[k-1]
			if name, is := last.(*ast.Ident); !is || name.Name != "nil" {
				m.add(n, last.Pos(), last.End(), "nil")
			}
		}
	}
	return true
}

func TestMutations(t *testing.T) {
	t.Parallel()
	source := `package p

func f(a, b int) (int, error) {
	if a < b && g() != nil {
		a++
		return 7, g()
	}
	a += 2
	for range 3 {
		continue
	}
	h(func() bool { return a-1 > b })
	_ = a
	return a, nil
}
`
	all, err := mutations("p/p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprint(m.line, " ", m))
		if _, err := parser.ParseFile(token.NewFileSet(), "", m.apply(), 0); err != nil {
			t.Errorf("%v is no Go: %v", m, err)
		}
	}
	want := []string{
		`4 p/p.go f: "a < b && g() != nil" becomes "!(a < b && g() != nil)"`,
		`4 p/p.go f: "a < b && g() != nil" becomes "g() != nil"`,
		`4 p/p.go f: "a < b" becomes "a <= b"`,
		`4 p/p.go f: "a < b && g() != nil" becomes "a < b"`,
		`4 p/p.go f: "a < b && g() != nil" becomes "a < b || g() != nil"`,
		`4 p/p.go f: "g() != nil" becomes "g() == nil"`,
		`5 p/p.go f: "a++" becomes "nothing"`,
		`6 p/p.go f: "return 7, g()" becomes "return 8, g()"`,
		`6 p/p.go f: "return 7, g()" becomes "return 7, nil"`,
		`8 p/p.go f: "a += 2" becomes "_ = 2"`,
		`8 p/p.go f: "a += 2" becomes "a += 3"`,
		`9 p/p.go f: "for range 3 {" becomes "for range 4 {"`,
		`10 p/p.go f: "continue" becomes "nothing"`,
		`12 p/p.go f: "h(func() bool { return a-1 > b })" becomes "nothing"`,
		`12 p/p.go f: "a-1" becomes "a+1"`,
		`12 p/p.go f: "h(func() bool { return a-1 > b })" becomes "h(func() bool { return a-2 > b })"`,
		`12 p/p.go f: "a-1 > b" becomes "a-1 >= b"`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("mutations are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
