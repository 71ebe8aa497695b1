// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/archtest"
)

var rewrite = flag.Bool("rewrite", false, "write docs/api.txt from the packages")

// docs/api.txt lists the exported names of the public packages. Removing or changing a line breaks programs, so it
// belongs in the changelog, see docs/operations.md#upgrade. -rewrite writes the file.
func TestAPI_IsListed(t *testing.T) {
	t.Parallel()
	a := &api{fileSet: token.NewFileSet(), of: map[string]map[string][]string{}}
	if err := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		dir, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		if name := e.Name(); dir != "." && (strings.HasPrefix(name, ".") || name == "testdata" || hasModule(at)) {
			return filepath.SkipDir
		}
		return a.read(filepath.ToSlash(dir))
	}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for dir, names := range a.of {
		if strings.Contains("/"+dir+"/", "/internal/") {
			continue
		}
		for _, of := range names {
			for _, line := range of {
				lines = append(lines, path.Join("locus", dir)+": "+line)
			}
		}
	}
	for _, of := range a.aliases { // of a type in internal, which a program can only use by this name
		for _, line := range a.of[of.target][of.name] {
			lines = append(lines, path.Join("locus", of.dir)+": "+line)
		}
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	file := filepath.Join(root, "docs", "api.txt")
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the exported names are others than in docs/api.txt: go test ./internal/archtest -run TestAPI -rewrite\n-listed +exported:\n%s", diff)
	}
}

func hasModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// api is the exported names of directories, by the name of the type or function that they belong to.
type api struct {
	fileSet *token.FileSet
	of      map[string]map[string][]string
	aliases []alias
	imports map[string]string // directories of this module by the names that the file being read uses
}

// alias is a name for a type in another directory.
type alias struct{ dir, target, name string }

// read reads the files of a directory, for every system.
func (a *api) read(dir string) error {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(a.fileSet, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if file.Name.Name == "main" {
			return nil
		}
		a.imports = map[string]string{}
		for _, i := range file.Imports {
			if target, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), archtest.Module+"/"); ours && i.Name == nil {
				a.imports[path.Base(target)] = target
			}
		}
		for _, decl := range file.Decls {
			a.declaration(dir, decl)
		}
	}
	return nil
}

func (a *api) add(dir, of, format string, args ...any) {
	if a.of[dir] == nil {
		a.of[dir] = map[string][]string{}
	}
	a.of[dir][of] = append(a.of[dir][of], fmt.Sprintf(format, args...))
}

func (a *api) declaration(dir string, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		of := d.Name.Name
		if d.Recv != nil {
			of = receiver(d.Recv.List[0].Type)
		}
		if d.Name.IsExported() && ast.IsExported(of) {
			a.add(dir, of, "%s", a.text(&ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						a.add(dir, name.Name, "%s", strings.TrimSpace(fmt.Sprint(d.Tok, " ", name.Name, " ", a.text(s.Type))))
					}
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					a.typ(dir, s)
				}
			}
		}
	}
}

// typ lists a type, and its exported fields or methods.
func (a *api) typ(dir string, s *ast.TypeSpec) {
	name := "type " + s.Name.Name
	members := func(kind string, list *ast.FieldList) {
		a.add(dir, s.Name.Name, "%s %s", name, kind)
		for _, field := range list.List {
			for _, n := range field.Names {
				if n.IsExported() {
					a.add(dir, s.Name.Name, "%s %s, %s %s", name, kind, n.Name, a.text(field.Type))
				}
			}
			if len(field.Names) == 0 {
				a.add(dir, s.Name.Name, "%s %s, %s", name, kind, a.text(field.Type))
			}
		}
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		members("struct", t.Fields)
	case *ast.InterfaceType:
		members("interface", t.Methods)
	default:
		if s.Assign.IsValid() {
			name += " ="
			if of, ok := t.(*ast.SelectorExpr); ok {
				if target := a.imports[a.text(of.X)]; strings.Contains("/"+target, "/internal/") {
					a.aliases = append(a.aliases, alias{dir, target, of.Sel.Name})
				}
			}
		}
		a.add(dir, s.Name.Name, "%s %s", name, a.text(s.Type))
	}
}

// receiver returns the name of the type of a method.
func receiver(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// text prints a node on one line.
func (a *api) text(node ast.Node) string {
	if e, ok := node.(ast.Expr); node == nil || ok && e == nil {
		return ""
	}
	var b strings.Builder
	if err := printer.Fprint(&b, a.fileSet, node); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
