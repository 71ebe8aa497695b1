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
	// secretName matches names of secrets. A token is a secret, too, unless it is a token of a text.
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
	products(t, func(s source) {
		for _, at := range printed(s, &calls) {
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
func printed(s source, calls *int) (found []string) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !printing.MatchString(nameOf(call.Fun)) {
			return true
		}
		*calls++
		for _, argument := range call.Args {
			if name := nameOf(argument); secretName.MatchString(name[strings.LastIndex(name, ".")+1:]) && !strings.Contains(name, "ErrSecret") {
				found = append(found, s.path+": "+nameOf(call.Fun)+"("+name+")")
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

// parsed returns a file with this text.
func parsed(t *testing.T, text string) source {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "planted.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{"planted.go", file}
}

// TestSecrets_AreSeen plants calls of both kinds.
func TestSecrets_AreSeen(t *testing.T) {
	t.Parallel()
	for line, secret := range map[string]bool{
		`fmt.Println(secret)`: true, `slog.String("x", c.ClientSecret)`: true,
		`s.opts.Logger.WarnContext(ctx, "no", "err", err, "of", string(password))`: true,
		`return fmt.Errorf("%q", bearer)`:                                          true, `fault(CodeInvalid, "", "%s", r.cookie)`: true, `fmt.Println(name)`: false,
		`check(secret)`: false, `fmt.Println(secretFile)`: false,
	} {
		n := 0
		if found := printed(parsed(t, "package x\nfunc f() { "+strings.TrimPrefix(line, "return ")+" }"), &n); (len(found) > 0) != secret {
			t.Errorf("%s: %v", line, found)
		}
	}
}

var (
	// secretField is the name of a field or parameter that holds a secret.
	secretField = regexp.MustCompile(`(?i)^(\w*secret|\w*passw(or)?d|\w*passphrase|bearer|token|\w*[a-z]Token|verifier|cookie)$`)
	plainText   = map[string]bool{"string": true, "*string": true, "[]byte": true}
)

// plainSecrets are the fields that hold a secret as plain text, and why they have to.
var plainSecrets = map[string]string{
	"client.Options.Token":                   "set by the application; Client keeps it as a secret.Text",
	"internal/cli.storedEntry.Token":         "the file of contexts, which only its owner can read",
	"internal/httpapi.LoginRequest.Verifier": "the body of a request",
	"internal/httpapi.TokenMade.Secret":      "the response that shows a token once",
	"internal/access.ParseSession.secret":    "the parser of what a request has sent",
	"internal/access.ParseToken.token":       "the parser of what a request has sent",
	"internal/console.cellLine.Token":        "the token of a lease: a number",
	"internal/login.attempt.Verifier":        "sealed in a cookie",
	"tokens.Challenge.verifier":              "hashed at once",
	"tokens.Session.Token":                   "the id of a token",
	"tokens.catalog.LoginSecret":             "the row of the tokens",
	"tokens.snapshot.secret":                 "the copy of that row in memory",
	"audits.Handle.secret":                   "the row of the secret of the audit log, in memory",
}

// TestSecrets_HaveTheirType looks for fields and parameters of exported functions named like a secret, and whose type
// would print it.
func TestSecrets_HaveTheirType(t *testing.T) {
	t.Parallel()
	typed, listed := 0, map[string]bool{}
	products(t, func(s source) {
		if strings.HasSuffix(s.dir(), "test") || ast.IsGenerated(s.file) {
			return
		}
		for name, kind := range secretsOf(s.file) {
			name = s.dir() + "." + name
			switch {
			case kind == "secret.Text" || kind == "*secret.Text":
				typed++
			case plainSecrets[name] != "":
				listed[name] = true
			case plainText[kind]:
				t.Errorf("%s is a %s: make it a secret.Text, which is not printed, or say in plainSecrets why it cannot be one",
					name, kind)
			}
		}
	})
	if typed < 10 || len(listed) != len(plainSecrets) {
		t.Errorf("%d secrets have the type; of the plain ones %v are left", typed, listed)
	}
}

// A planted secret of a plain type is found; planted bugs are compiled from copies of the files, while this test reads
// the files themselves.
func TestSecrets_PlantedIsFound(t *testing.T) {
	t.Parallel()
	found := secretsOf(parsed(t, "package p\n\ntype Login struct{ User, Password string }\n\nfunc Dial(host string, token []byte) {}\n").file)
	for name, kind := range map[string]string{"Login.Password": "string", "Dial.token": "[]byte"} {
		if found[name] != kind || !plainText[kind] {
			t.Errorf("%s is a %q, want %s among the plain types: %v", name, found[name], kind, found)
		}
	}
}

// secretsOf returns the types of the fields of a file that are named like secrets.
func secretsOf(file *ast.File) map[string]string {
	found := map[string]string{}
	note := func(of string, list *ast.FieldList) {
		for _, f := range list.List {
			for _, name := range f.Names {
				if secretField.MatchString(name.Name) {
					found[of+"."+name.Name] = typeName(f.Type)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				note(n.Name.Name, s.Fields)
			}
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.IsExported() {
				note(n.Name.Name, n.Type.Params)
			}
		}
		return true
	})
	return found
}

// typeName returns the name of a type, "" for others than those of plainText and of another package.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.ArrayType:
		return "[]" + typeName(e.Elt)
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	}
	return ""
}

// TestSecrets_TypesAreSeen plants fields of all kinds.
func TestSecrets_TypesAreSeen(t *testing.T) {
	t.Parallel()
	got := secretsOf(parsed(t, `package x
type a struct { Password, name string; clientSecret []byte; apiToken *string; Tokens []string; token int64; inner struct{ x int } }
func Open(url, password string) {}
func open(password string) {}
func (a) Check(token string) {}`).file)
	want := map[string]string{"a.Password": "string", "a.clientSecret": "[]byte", "a.apiToken": "*string",
		"a.token": "int64", "Open.password": "string"}
	for name, kind := range want {
		if got[name] != kind {
			t.Errorf("%s: %q, want %q", name, got[name], kind)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
}
