// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/eval"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
	"github.com/locus-db/locus/storage/mongodb"
)

// Exit codes. More may be added: an unknown code means failure.
const (
	exitDone        = 0
	exitFailed      = 1
	exitInvalid     = 2 // wrong flag, configuration or input; unsafe start
	exitPartly      = 3 // some records were rejected
	exitNotFound    = 4
	exitConflict    = 5
	exitUnavailable = 6 // retry later
	exitInterrupted = 130
)

// exits maps the codes of the HTTP API to exit codes.
var exits = map[httpapi.Code]int{
	httpapi.CodeMalformed: exitInvalid, httpapi.CodeInvalidUTF8: exitInvalid, httpapi.CodeDuplicateKey: exitInvalid,
	httpapi.CodeTrailingData: exitInvalid, httpapi.CodeTooDeep: exitInvalid, httpapi.CodeUnknownField: exitInvalid,
	httpapi.CodeInvalid: exitInvalid, httpapi.CodeInFuture: exitInvalid, httpapi.CodeTooLarge: exitInvalid,
	httpapi.CodeTargetLength: exitInvalid, httpapi.CodeHeaderLength: exitInvalid, httpapi.CodeMediaType: exitInvalid,
	httpapi.CodeUnauthenticated: exitFailed, httpapi.CodeForbidden: exitFailed, httpapi.CodeMisdirected: exitFailed,
	httpapi.CodeMethod:    exitFailed,
	httpapi.CodeKeyReused: exitInvalid, httpapi.CodeRange: exitInvalid, httpapi.CodeOverflow: exitInvalid,
	httpapi.CodeTooOld:   exitConflict,
	httpapi.CodeInternal: exitFailed,
	httpapi.CodeDamaged:  exitFailed,
	httpapi.CodeNotFound: exitNotFound, httpapi.CodeErased: exitConflict, httpapi.CodeTrimmed: exitConflict,
	httpapi.CodeConflict: exitConflict, httpapi.CodeLeaseLost: exitConflict,
	httpapi.CodeTimeout: exitUnavailable, httpapi.CodeOverloaded: exitUnavailable,
	httpapi.CodeUnavailable: exitUnavailable,
	httpapi.CodeDraining:    exitUnavailable, httpapi.CodeStaleMap: exitUnavailable,
	httpapi.CodeCommitUnknown: exitUnavailable,
	httpapi.CodeNoRoom:        exitUnavailable, httpapi.CodeRateLimited: exitUnavailable,
}

// failure is an error with everything that is printed for the user.
type failure struct {
	Code    string
	Outcome httpapi.Outcome // not_applied if empty
	Message string
	Shown   []string // lines of a file, below the message
	Hint    string
	Exit    int
	Err     error
}

// Error returns the first of the two lines.
func (f *failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.Err }

// usage returns a failure for a wrong command line.
func usage(hint, format string, args ...any) error {
	return &failure{Code: "invalid", Message: fmt.Sprintf(format, args...), Hint: hint, Exit: exitInvalid}
}

// exit prints the error and returns the exit code.
func (a *app) exit(ctx context.Context, err error) int {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return exitDone
	}
	f := explainFailure(ctx, err)
	if a.json {
		outcome := f.Outcome
		if outcome == "" {
			outcome = httpapi.NotApplied
		}
		line, _ := json.Marshal(struct {
			Type    string          `json:"type"`
			Code    string          `json:"code"`
			Outcome httpapi.Outcome `json:"outcome"`
			Message string          `json:"message"`
			Hint    string          `json:"hint,omitempty"`
			Exit    int             `json:"exit"`
		}{"exit_error", f.Code, outcome, f.Message, f.Hint, f.Exit})
		a.say("%s", line)
		return f.Exit
	}
	// the library's own errors begin so
	a.say("%s %s", a.talk.Paint("31", "locus:"), term.Escape(strings.TrimPrefix(f.Message, "locus: ")))
	for _, line := range f.Shown {
		a.say("%s", term.Escape(line))
	}
	if f.Hint != "" {
		a.say("%s   %s", a.talk.Paint("2", "try:"), term.Escape(f.Hint))
	}
	return f.Exit
}

// commandErrors are the errors of opening data and of other work without a server, with codes of their own. The first
// match counts; all other errors have the codes of the HTTP API.
var commandErrors = []struct {
	err  error
	code string
	exit int
	hint string
}{
	{locus.ErrCommitUnknown, "commit_unknown", exitUnavailable, hints[httpapi.CodeCommitUnknown]},
	{cell.ErrDamaged, "damaged", exitFailed, hints[httpapi.CodeDamaged]},
	{cell.ErrClock, "clock", exitFailed, "set the clock, or let NTP set it: timedatectl set-ntp true"},
	{storage.ErrInUse, "in_use", exitFailed,
		"use the server that has it open, --url http://127.0.0.1:7070 or the address that it printed; or stop it"},
	{storage.ErrCells, "conflict", exitConflict, "leave out --cells; locus cell grow adds cells"},
	{storage.ErrLost, "damaged", exitFailed, restores},
	{cell.ErrMissing, "not_found", exitNotFound,
		"locus ingest FILE makes a data directory, locus demo shows one; or name another with --data"},
	{cell.ErrCopy, "copy", exitFailed, ""},
	{storage.ErrStrange, "strange", exitFailed, ""},
	{storage.ErrRefused, "forbidden", exitFailed, "check the role and its password: PGUSER, PGPASSWORD, the password file (PGPASSFILE), pg_hba.conf, and what the role may do"},
	{cell.ErrWentBack, "went_back", exitFailed, ""},
	{cell.ErrIdentity, "identity", exitFailed, "restore the files of this directory, if necessary from a backup"},
	{cell.ErrFormat, "newer_format", exitFailed, "use the release of Locus that wrote it, or a later one"},
	{resolve.ErrNewer, "newer_format", exitFailed, "use the release of Locus that upgraded it, or a later one"},
	{cell.ErrPreflight, "preflight", exitFailed, ""},
	{mirror.ErrForeign, "conflict", exitConflict,
		"choose another --collection; or, if that mirror is no longer needed, drop it and NAME.mirror"},
	{mirror.ErrFormat, "newer_format", exitFailed, "use the release of Locus that wrote it, or a later one"},
	{mongodb.ErrURI, "invalid", exitInvalid, "mongodb://HOST/NAME, its password in LOCUS_MONGODB_PASSWORD"},
	{locus.ErrDocuments, "documents", exitFailed, ""},
	{mongodb.ErrNoCopy, "conflict", exitConflict, ""},
	{eval.ErrNoData, "not_found", exitNotFound, "--data DIR names the folder of labelled sets"},
	{eval.ErrWorse, "worse", exitFailed,
		"read the errors above; if the loss is intended, store new figures in the baseline"},
	{cell.ErrMap, "invalid", exitInvalid, ""},
	{cell.ErrConflict, "conflict", exitConflict, "do it again"},
	{cell.ErrOccupied, "conflict", exitConflict,
		"choose another database, or pass --replace to delete the rows that the cell left there"},
	{locus.ErrOccupied, "conflict", exitConflict, "choose another directory with --data, or other databases with --map"},
	{locus.ErrUnfinished, "unfinished", exitConflict,
		"delete the directory, or drop the databases, and run locus restore again"},
	{locus.ErrDumpFile, "invalid", exitInvalid, "use another copy of the file, or take the dump again"},
	{locality.ErrMalformed, "invalid", exitInvalid, ""},
	{cell.ErrFiles, "unavailable", exitUnavailable, "ulimit -n 65536, or LimitNOFILE=65536 of its unit"},
	{cell.ErrNoRoom, "no_room", exitUnavailable, hints[httpapi.CodeNoRoom]},
	{cell.ErrUnavailable, "unavailable", exitUnavailable, hints[httpapi.CodeUnavailable]},
	{syscall.ENOSPC, "no_room", exitUnavailable, hints[httpapi.CodeNoRoom]},
	{fs.ErrPermission, "forbidden", exitFailed, "check the owner and the permissions of the file or directory"},
	{cell.ErrURL, "invalid", exitInvalid,
		"--data DIR; or --map postgres://HOST/NAME, with the rest in PGHOST, PGPORT, PGUSER, PGPASSFILE"},
}

// restores is the hint for cells that cannot be read.
const restores = "locus restore BACKUP --data DIR makes the directory that was backed up"

// hints maps codes of the HTTP API to hints.
var hints = map[httpapi.Code]string{
	httpapi.CodeUnauthenticated: "locus login URL; or --token-file FILE, or LOCUS_TOKEN; locus token create makes a token",
	httpapi.CodeCommitUnknown:   "repeat the command: that is safe even if it took effect",
	httpapi.CodeDamaged:         "locus check reports other damage and repairs what it can",
	httpapi.CodeNoRoom:          "make room on the disk",
	httpapi.CodeRateLimited:     "try again in a moment; locus token create --rate gives a token other limits",
	httpapi.CodeOverloaded:      "try again in a moment",
	httpapi.CodeUnavailable:     "try again in a moment",
}

// explainFailure returns the failure to print for an error.
func explainFailure(ctx context.Context, err error) *failure {
	var known *failure
	var problem *httpapi.Problem
	var file *bulk.FileError
	var network *net.OpError
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return &failure{Code: "interrupted", Message: "interrupted", Exit: exitInterrupted,
			Outcome: httpapi.Unknown, Err: err}
	case errors.As(err, &problem):
		return fromProblem(problem)
	case errors.Is(err, errCut):
		return &failure{
			Code: "unavailable", Message: err.Error(), Outcome: httpapi.Unknown, Hint: hints[httpapi.CodeCommitUnknown],
			Exit: exitUnavailable, Err: err,
		}
	case errors.As(err, &file):
		return &failure{Code: "invalid", Message: file.Error(), Hint: file.Hint, Exit: exitInvalid, Err: err}
	case errors.As(err, &network):
		f := &failure{
			Code: "unavailable", Message: fmt.Sprintf("cannot reach a server at %v: %v", network.Addr, network.Err),
			Outcome: httpapi.Unknown,
			Hint:    "locus serve starts one; --data DIR works without one", Exit: exitUnavailable, Err: err,
		}
		if network.Op == "dial" {
			f.Outcome = httpapi.NotApplied
		}
		return f
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && unknown.Cert != nil {
		return &failure{
			Code: "untrusted", Message: fmt.Sprintf("the certificate of the server is signed by an unknown authority: %v", err),
			Exit: exitFailed, Err: err,
			Hint: "locus login URL --ca-fingerprint FINGERPRINT, which locus serve prints; or SSL_CERT_FILE with the file of the authority",
		}
	}
	for _, s := range commandErrors {
		if errors.Is(err, s.err) {
			return &failure{Code: s.code, Message: err.Error(), Hint: s.hint, Exit: s.exit, Err: err}
		}
	}
	code := httpapi.CodeOf(err)
	if errors.Is(err, context.Canceled) && code == httpapi.CodeUnavailable && !errors.Is(err, locus.ErrUnavailable) {
		code = httpapi.CodeInternal // the user did not cancel it
	}
	return &failure{Code: string(code), Outcome: code.Outcome(), Message: err.Error(), Hint: hints[code],
		Exit: exits[code], Err: err}
}

// fromProblem converts a problem reported by a server.
func fromProblem(p *httpapi.Problem) *failure {
	f := &failure{Code: string(p.Code), Outcome: p.Outcome, Message: p.Detail, Exit: exitFailed, Err: p}
	if code, ok := exits[p.Code]; ok {
		f.Exit = code
	}
	if p.Pointer == httpapi.PointerReplace && p.Code == httpapi.CodeConflict {
		f.Message = strings.TrimSuffix(p.Detail, ": "+httpapi.WithReplace)
		f.Hint = "--replace deletes them first"
	}
	if p.Code == httpapi.CodeInternal {
		f.Hint = "report it with the request id " + p.RequestID
	}
	if p.Code == httpapi.CodeDamaged || p.Code == httpapi.CodeUnauthenticated {
		f.Hint = hints[p.Code]
	}
	if p.Code == httpapi.CodeMisdirected {
		f.Hint = "the server does not accept that host name: locus serve --host NAME"
	}
	return f
}
