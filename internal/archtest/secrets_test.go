// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

var (
	// secretName is what holds a secret by its name; a token is one, too, unless it is one of a text.
	secretName = regexp.MustCompile(`(?i)^(\w*secret|\w*passw(or)?d|\w*passphrase|bearer|credential|\w*tokentext|cookie|verifier|jwt)$`)
	// printing are functions whose arguments end in a log, an error or on a terminal.
	printing = regexp.MustCompile(`^(fmt|slog|log)\.|\.(Debug|Info|Warn|Error|Log|LogAttrs)(Context|f)?$|^(fault|usage)$|\.Invalid$`)
)

// shownOnce are the places that show a secret on purpose, to the caller that has just made it.
var shownOnce = map[string]bool{
	"internal/cli/token.go: fmt.Fprintln(of.Secret)": true,
	"internal/cli/token.go: fmt.Fprintln(secret)":    true,
}

// No call that prints, logs or makes an error has an argument with the name of a secret.
func TestSecrets_AreNotPrinted(t *testing.T) {
	t.Parallel()
	calls, shown := 0, map[string]bool{}
	text(t, []string{".go"}, func(path string, content []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, at := range printed(t, path, content, &calls) {
			if shownOnce[at] {
				shown[at] = true
				continue
			}
			t.Errorf("%s: a secret is printed", at)
		}
	})
	if calls < 1000 || len(shown) != len(shownOnce) {
		t.Errorf("%d calls; %d of %d secrets are shown on purpose", calls, len(shown), len(shownOnce))
	}
}

// printed returns the calls of a file with a secret among their arguments.
func printed(t *testing.T, path string, content []byte, calls *int) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !printing.MatchString(nameOf(call.Fun)) {
			return true
		}
		*calls++
		for _, argument := range call.Args {
			if name := nameOf(argument); secretName.MatchString(name[strings.LastIndex(name, ".")+1:]) && !strings.Contains(name, "ErrSecret") {
				found = append(found, strings.TrimPrefix(path, "../../")+": "+nameOf(call.Fun)+"("+name+")")
			}
		}
		return true
	})
	return found
}

// nameOf returns an identifier with what it is selected from, "" for other expressions.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return nameOf(e.X)
	case *ast.CallExpr: // string(secret), strings.TrimSpace(secret); not len(secret)
		if len(e.Args) == 1 && nameOf(e.Fun) != "len" {
			return nameOf(e.Args[0])
		}
	}
	return ""
}

// TestSecrets_AreSeen plants calls of both kinds.
func TestSecrets_AreSeen(t *testing.T) {
	t.Parallel()
	for line, secret := range map[string]bool{
		`fmt.Println(secret)`: true, `slog.String("x", c.ClientSecret)`: true, `s.opts.Logger.WarnContext(ctx, "no", "err", err, "of", string(password))`: true,
		`return fmt.Errorf("%q", bearer)`: true, `fault(CodeInvalid, "", "%s", r.cookie)`: true, `fmt.Println(name)`: false, `check(secret)`: false, `fmt.Println(secretFile)`: false,
	} {
		n := 0
		if found := printed(t, "x.go", []byte("package x\nfunc f() { "+strings.TrimPrefix(line, "return ")+" }"), &n); (len(found) > 0) != secret {
			t.Errorf("%s: %v", line, found)
		}
	}
}
