// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// Every code of the HTTP API has an exit code.
func TestExits_KnowEveryCode(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../httpapi/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Code" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if _, ok := exits[httpapi.Code(text)]; !ok {
			t.Errorf("code %q has no exit code", text)
		}
		return true
	})
	if found < 20 {
		t.Errorf("only %d codes were found", found)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	interrupted, cancel := context.WithCancel(context.Background())
	cancel()
	problem := func(code httpapi.Code) error {
		return fmt.Errorf("ask: %w", &httpapi.Problem{Fault: httpapi.Fault{Code: code, Detail: "detail", Outcome: httpapi.Unknown}, RequestID: "R1"})
	}
	for _, c := range []struct {
		name    string
		ctx     context.Context
		err     error
		exit    int
		code    string
		outcome httpapi.Outcome
		says    string
	}{
		{"a usage error keeps its own", nil, fmt.Errorf("x: %w", usage("hint", "what")), 2, "invalid", "", "hint"},
		{"interrupted", interrupted, fmt.Errorf("x: %w", context.Canceled), 130, "interrupted", httpapi.Unknown, ""},
		{"cancelled by somebody else", nil, context.Canceled, 1, "internal", httpapi.Unknown, ""},
		{"not found", nil, problem(httpapi.CodeNotFound), 4, "not_found", httpapi.Unknown, "detail"},
		{"erased", nil, problem(httpapi.CodeErased), 5, "erased", httpapi.Unknown, "detail"},
		{"a bug names its request", nil, problem(httpapi.CodeInternal), 1, "internal", httpapi.Unknown, "R1"},
		{"a name that the server does not know", nil, problem(httpapi.CodeMisdirected), 1, "misdirected",
			httpapi.Unknown, "--host"},
		{"a code of a newer server", nil, problem("brand_new"), 1, "brand_new", httpapi.Unknown, "detail"},
		{"a file", nil, fmt.Errorf("x: %w", &bulk.FileError{Name: "f", Reason: "no", Hint: "iconv"}), 2, "invalid",
			"", "iconv"},
		{"an invalid input", nil, &locus.InvalidError{Problems: []locus.Problem{{Pointer: "/key", Detail: "is empty"}}}, 2,
			"invalid", httpapi.NotApplied, "key: is empty"},
		{"no server listens", nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, 6, "unavailable",
			httpapi.NotApplied, "locus serve"},
		{"cut while it read", nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, 6, "unavailable",
			httpapi.Unknown, ""},
		{"an answer that was cut", nil, fmt.Errorf("read: %w: %w", errCut, io.ErrUnexpectedEOF), 6, "unavailable",
			httpapi.Unknown, "that is safe"},
		{"no such generation", nil, fmt.Errorf("plan: %w: 40 cells", cell.ErrMap), 2, "invalid", "", "40 cells"},
		{"a cell is down", nil, fmt.Errorf("cell g0-1: %w", cell.ErrUnavailable), 6, "unavailable", "", "try again"},
		{"no url", nil, fmt.Errorf("open: %w", cell.ErrURL), 2, "invalid", "", "PGPASSFILE"},
		{"in use", nil, fmt.Errorf("open: %w", storage.ErrInUse), 1, "in_use", "", "--url http://127.0.0.1:7070"},
		{"missing", nil, fmt.Errorf("open: %w", cell.ErrMissing), 4, "not_found", "", "locus ingest"},
		{"a cell is missing", nil, fmt.Errorf("open: %w", storage.ErrLost), 1, "damaged", "", "locus restore"},
		{"other cells", nil, fmt.Errorf("open: %w", storage.ErrCells), 5, "conflict", "", "leave out --cells"},
		{"newer data", nil, fmt.Errorf("open: %w", cell.ErrFormat), 1, "newer_format", "", ""},
		{"disk full", nil, &fs.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, 6, "no_room", "", "disk"},
		{"no right", nil, &fs.PathError{Op: "open", Path: "f", Err: syscall.EACCES}, 1, "forbidden", "", ""},
		{"unknown outcome", nil, fmt.Errorf("put: %w: %w", locus.ErrCommitUnknown, locus.ErrUnavailable), 6, "commit_unknown",
			"", "that is safe"},
		{"an id", nil, locality.ErrMalformed, 2, "invalid", "", ""},
		{"not found here", nil, fmt.Errorf("get: %w", entity.ErrNotFound), 4, "not_found", httpapi.NotApplied, ""},
		{"a kind that is there", nil, fmt.Errorf("create: %w", kinds.ErrOtherKind), 5, "conflict", httpapi.NotApplied,
			"a different kind"},
		{"anything else", nil, errors.New("what"), 1, "internal", httpapi.Unknown, "what"},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		f := explainFailure(ctx, c.err)
		if f.Exit != c.exit || f.Code != c.code || f.Outcome != c.outcome || !strings.Contains(f.Message+" "+f.Hint, c.says) {
			t.Errorf("%s: exit %d, code %s, outcome %q, %q, %q", c.name, f.Exit, f.Code, f.Outcome, f.Message, f.Hint)
		}
	}
}

func TestExit_ClosedPipeIsQuiet(t *testing.T) {
	t.Parallel()
	var talk bytes.Buffer
	a := &app{stderr: &talk}
	if code := a.exit(t.Context(), fmt.Errorf("write: %w", syscall.EPIPE)); code != 0 || talk.Len() > 0 {
		t.Errorf("exit code %d, %q", code, talk.String())
	}
	if code := a.exit(t.Context(), nil); code != 0 || talk.Len() > 0 {
		t.Errorf("exit code %d, %q", code, talk.String())
	}
}

// Rows that a move may replace are reported with the name of the flag, not of the field in the body.
func TestFromProblem_Replace(t *testing.T) {
	t.Parallel()
	p := &httpapi.Problem{Fault: httpapi.Fault{Code: httpapi.CodeConflict, Pointer: httpapi.PointerReplace,
		Detail: "it has rows: " + httpapi.WithReplace}}
	if f := fromProblem(p); f.Message != "it has rows" || !strings.Contains(f.Hint, "--replace") || f.Exit != exitConflict {
		t.Errorf("%+v", f)
	}
}
